import { Injectable } from '@nestjs/common';
import type { Row } from '../../database/queries/atomic-statements.js';
import { ApiKeyVerifier } from '../api-keys/api-key-verifier.js';
import { RevocationWatch } from '../api-keys/revocation-watch.js';
import { SessionsService } from '../sessions/sessions.service.js';

/** Makes this process notice at once that sessions and keys have ended. Other processes notice the end by themselves. */
@Injectable()
export class EndedCredentials {
  constructor(
    private readonly sessions: SessionsService,
    private readonly verifier: ApiKeyVerifier,
    private readonly revocations: RevocationWatch,
  ) {}

  /**
   * @param sessions rows with `id`.
   * @param keys rows with `id` and `hashed_key`.
   */
  invalidate(sessions: readonly Row[], keys: readonly Row[]): void {
    for (const session of sessions) this.sessions.invalidate(String(session['id']));
    for (const key of keys) {
      this.verifier.invalidate(String(key['hashed_key']));
      this.revocations.notify(String(key['id']));
    }
  }
}
