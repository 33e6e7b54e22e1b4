import type { VendorCall } from './vendor-call.js';

const PIECE = 'All work and no play makes Jack a dull boy. '.repeat(200);

/** Sends `count` pieces as fast as they are taken. */
export async function sendMuch(call: VendorCall, count: number): Promise<void> {
  call.head();
  for (let index = 0; index < count && call.abortedAt === undefined; index++) {
    call.text(`${index}:${PIECE}`);
    await call.drained();
  }
  call.finish().endMarker().end();
}

/** The text of {@link sendMuch}. */
export function muchText(count: number): string {
  return Array.from({ length: count }, (_, index) => `${index}:${PIECE}`).join('');
}
