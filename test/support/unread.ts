import type { ProviderCall } from '../../src/testing/provider/provider-call.js';

const PIECE = 'All work and no play makes Jack a dull boy. '.repeat(200);

/** Answers with `count` long pieces, as fast as the socket accepts them. */
export async function sendMuch(call: ProviderCall, count: number): Promise<void> {
  call.head();
  for (let index = 0; index < count && call.abortedAt === undefined; index++) {
    call.text(`${index}:${PIECE}`);
    await call.drained();
  }
  call.finish().endMarker().end();
}

/** The text of the answer of {@link sendMuch}. */
export function muchText(count: number): string {
  return Array.from({ length: count }, (_, index) => `${index}:${PIECE}`).join('');
}
