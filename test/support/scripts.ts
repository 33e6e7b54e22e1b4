import type { ProviderCall } from '../../src/testing/provider/provider-call.js';
import type { Script } from '../../src/testing/provider/scripted-provider.js';
import type { Latch } from './latch.js';

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

/** The provider sends the beginning of an answer, and then nothing. */
export function beginning(text: string): Script {
  return (call) => {
    call.head().text(text);
  };
}

/** The provider sends a text, and ends the answer when the latch opens. */
export function endingAfter(latch: Latch, text: string): Script {
  return async (call) => {
    call.head().text(text);
    await latch.opened;
    call.finish().endMarker().end();
  };
}
