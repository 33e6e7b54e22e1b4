import type { TierConfig } from '../../config/config.js';

/** Who makes a request, and how that was shown. */
export interface Principal {
  readonly accountId: string;
  readonly tier: TierConfig;
  /** The credential: revoking it ends what runs under it. */
  readonly credential: Credential;
}

export type Credential =
  | {
      readonly kind: 'api_key';
      readonly keyId: string;
      /** What may be shown of the key. */
      readonly prefix: string;
    }
  /** A browser that is signed in; the id is the hash of its token. */
  | { readonly kind: 'session'; readonly sessionId: string }
  /** Of a team's own strategy, which alone knows when it ends: what runs under it is not ended by us. */
  | { readonly kind: 'external'; readonly id: string };

/** The session that the request was made in, if it was made in one. */
export function sessionIdOf({ credential }: Principal): string | undefined {
  return credential.kind === 'session' ? credential.sessionId : undefined;
}
