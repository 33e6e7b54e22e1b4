import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { picture } from './screenshots.js';

/** Pictures of the page, with nothing serious for axe-core to say about any of them, and nothing to scroll sideways to. */
export async function expectAccessible(page: Page, name: string): Promise<void> {
  await picture(page, name, async (title) => {
    expect(await complaintsAbout(page), title).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${title} fits`).toBe(true);
  });
}

async function complaintsAbout(page: Page): Promise<string[]> {
  // By the debugger, which the Content-Security-Policy of the page lets in.
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(async () =>
    (globalThis as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run(),
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(', ')}`);
}
