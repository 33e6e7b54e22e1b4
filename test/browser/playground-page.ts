import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/** The playground as its user sees it. */
export class PlaygroundPage {
  constructor(private readonly page: Page) {}

  async send(message: string): Promise<void> {
    await this.page.getByLabel('Message').fill(message);
    await this.page.getByRole('button', { name: 'Send' }).click();
  }

  /** Sends, and waits for all of the answer. */
  async ask(message: string, answer: string): Promise<void> {
    await this.send(message);
    await this.answerIs(answer);
    await expect.poll(() => this.announcement()).toContain('complete');
  }

  /** Waits until the last answer shows this text. */
  async answerIs(text: string): Promise<void> {
    const answer = this.page.locator('.answer .turn-text').last();
    await expect.poll(() => answer.textContent()).toBe(text);
  }

  /** What who hears the page was told last. */
  async announcement(): Promise<string> {
    return (await this.page.locator('#announcer').textContent()) ?? '';
  }

  async turns(): Promise<number> {
    return this.page.locator('.turn').count();
  }

  async focusedId(): Promise<string> {
    return this.page.evaluate(() => document.activeElement?.id ?? '');
  }

  async distanceToEnd(): Promise<number> {
    return this.log((log) => log.scrollHeight - log.clientHeight - log.scrollTop);
  }

  async scrolledTo(): Promise<number> {
    return this.log((log) => log.scrollTop);
  }

  async scrollTo(top: number): Promise<void> {
    await this.page.locator('#conversation').evaluate((log, to) => {
      log.scrollTop = to;
    }, top);
    // The page hears of it with the next frame.
    await this.page.evaluate(() => new Promise((seen) => requestAnimationFrame(() => requestAnimationFrame(seen))));
  }

  private log(look: (log: Element) => number): Promise<number> {
    return this.page.locator('#conversation').evaluate(look);
  }
}
