import type { ProviderCall } from '../../src/testing/provider/provider-call.js';
import type { Script } from '../../src/testing/provider/scripted-provider.js';

/** The provider sends these texts as a complete answer. */
export function answering(...texts: readonly string[]): Script {
  return (call) => {
    call.answer(...texts);
  };
}

/** The provider refuses the request with a status, headers and a body. */
export function refusing(...refusal: Parameters<ProviderCall['refuse']>): Script {
  return (call) => {
    call.refuse(...refusal);
  };
}
