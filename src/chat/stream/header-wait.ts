/** The time until the headers are sent without a first text, if the provider has accepted the request. */
const ACCEPTED_WAIT_MS = 10_000;
/** The time until the headers are sent in any case. Many proxies give up after 50 to 60 seconds. */
const LONGEST_WAIT_MS = 30_000;

/**
 * Waits until the response headers can be sent: at the first text, after 10 s if a provider has accepted the request, or
 * after 30 s in any case. So a long wait for the first text does not look like a dead server.
 *
 * @throws the failure to get a first text.
 */
export async function headersDue(first: Promise<unknown>, accepted: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const after = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      timer = setTimeout(resolve, ms);
    });
  const due = after(ACCEPTED_WAIT_MS).then(() => Promise.race([accepted, after(LONGEST_WAIT_MS - ACCEPTED_WAIT_MS)]));
  try {
    await Promise.race([first, due]);
  } finally {
    clearTimeout(timer);
  }
}
