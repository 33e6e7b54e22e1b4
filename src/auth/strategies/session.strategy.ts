import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { Strategy } from 'passport';
import { principalOfSession, sessionOf } from '../session/request-session.js';

/** Accepts requests for which the session middleware has found a session. */
@Injectable()
export class SessionStrategy extends Strategy {
  /** Not `session`, because Passport has a built-in strategy of this name. */
  static readonly strategyName = 'web-session';

  /** Fails without a challenge, because the bearer strategy sends the challenge for a missing credential. */
  override authenticate(request: Request): void {
    try {
      const session = sessionOf(request);
      if (session === undefined) this.fail();
      else this.success(principalOfSession(session));
    } catch (error) {
      this.error(error);
    }
  }
}
