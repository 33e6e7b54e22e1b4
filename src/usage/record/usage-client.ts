import type { Principal } from '../../auth/principal/principal.js';
import type { UsageClient } from './usage-record.js';

/** Returns who asks, without any secret that would allow another request. */
export function usageClient({ accountId, credential }: Principal): UsageClient {
  const ofKey = credential.kind === 'api_key' ? credential : undefined;
  return { accountId, credential: credential.kind, keyId: ofKey?.keyId, keyPrefix: ofKey?.prefix };
}
