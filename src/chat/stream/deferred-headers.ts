import { startTimer } from '../../platform/common/timers/pace.js';
/** The time until the headers are sent without a first text, if the provider has accepted the request. */
const ACCEPTED_WAIT_MS = 10_000;
/** The time until the headers are sent in any case. Many proxies give up after 50 to 60 seconds. */
export const MAX_WAIT_MS = 30_000;

/**
 * Defers the response headers until the first text, but not for long: they are due after 10 s if a provider has accepted the
 * request, or after 30 s in any case. So a long wait for the first text does not look like a dead server.
 *
 * @param waitedMs how long the client has waited already.
 * @throws the failure to get a first text.
 */
export async function headersDue(first: Promise<unknown>, accepted: Promise<void>, waitedMs = 0): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const due = new Promise<void>((resolve) => {
    timer = startTimer(
      () => {
        timer = startTimer(resolve, MAX_WAIT_MS - Math.max(ACCEPTED_WAIT_MS, waitedMs));
        void accepted.then(resolve);
      },
      Math.max(0, ACCEPTED_WAIT_MS - waitedMs),
    );
  });
  try {
    await Promise.race([first, due]);
  } finally {
    clearTimeout(timer);
  }
}
