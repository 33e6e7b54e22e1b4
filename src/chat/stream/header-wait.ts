/**
 * Waits until it is known how to answer: the first text, or the failure to get any (which is thrown), or that a vendor
 * has taken the request and `limitMs` have passed, so that a long wait for the first text does not look like a dead server.
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
