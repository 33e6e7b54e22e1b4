/**
 * Waits until the response headers can be sent: until the first text, or until `limitMs` have passed and a provider has
 * accepted the request. With the limit, a long wait for the first text does not look like a dead server.
 *
 * @throws the failure to get a first text.
 */
export async function headersDue(first: Promise<unknown>, accepted: Promise<void>, limitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  try {
    await Promise.race([first, limit.then(() => accepted)]);
  } finally {
    clearTimeout(timer);
  }
}
