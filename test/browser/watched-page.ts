import type { Page } from 'playwright-core';

/**
 * Collects what goes wrong on the page from now on: errors and warnings of the console, which include refusals of the
 * Content-Security-Policy, uncaught exceptions, and failed requests.
 */
export function complaintsOf(page: Page): string[] {
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText ?? '';
    // Now and then Chromium says so of an answer that is `no-store` and was read to its end, whatever server sent it.
    if (reason !== 'net::ERR_ABORTED') complaints.push(`${request.url()}: ${reason}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400) complaints.push(`${response.url()}: ${response.status()}`);
  });
  return complaints;
}
