import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { Strategy } from 'passport';
import { principalOfSession, sessionOf } from '../session/request-session.js';

/** Lets in whom the session middleware has found. */
@Injectable()
export class SessionStrategy extends Strategy {
  /** Not `session`, which is a strategy of Passport's own. */
  static readonly strategyName = 'web-session';

  /** Fails without a challenge: what there is to say of a missing credential, the bearer strategy says. */
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
