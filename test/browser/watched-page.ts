import type { Browser, Page } from 'playwright-core';

/** A page, with all that went wrong on it. */
export interface WatchedPage {
  readonly page: Page;
  /** Errors and warnings of the console (refusals of the Content-Security-Policy are among them), uncaught exceptions, and requests that failed. */
  readonly complaints: string[];
}

export async function openPage(browser: Browser, url: string): Promise<WatchedPage> {
  const page = await browser.newPage();
  const complaints = complaintsOf(page);
  await page.goto(url, { waitUntil: 'networkidle' });
  return { page, complaints };
}

/** All that goes wrong on the page from now on. */
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
