import axe, { type AxeResults, type RunOptions } from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { inEachForm, type Form } from './screenshots.js';

/** All rules in the light forms. A dark form differs from the light one of the same width in its colors only. */
const RULES: Readonly<Record<Form['colorScheme'], RunOptions>> = {
  light: { resultTypes: ['violations'] },
  dark: { resultTypes: ['violations'], runOnly: ['color-contrast', 'link-in-text-block'] },
};

/**
 * Checks that axe-core finds nothing wrong on the page, and that there is nothing to scroll sideways to, in each form.
 *
 * @param leftOut the rules that a library breaks, which draws the page.
 */
export async function expectAccessible(page: Page, name: string, leftOut: readonly string[] = []): Promise<void> {
  await inEachForm(page, name, async ({ title, colorScheme }) => {
    const complaints = await complaintsAbout(page, RULES[colorScheme]);
    expect(
      complaints.filter((complaint) => !leftOut.some((rule) => complaint.startsWith(`${rule}:`))),
      title,
    ).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${title} fits`).toBe(true);
  });
}

/** Checks that no rule of axe-core complains, as the page is shown now, and that there is nothing to scroll sideways to. */
export async function expectNoComplaint(page: Page, title: string): Promise<void> {
  expect(await complaintsAbout(page, RULES.light), title).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${title} fits`).toBe(true);
}

async function complaintsAbout(page: Page, options: RunOptions): Promise<string[]> {
  // By the debugger, which the Content-Security-Policy of the page lets in.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source);
  const { violations } = await page.evaluate(
    async (rules) => (globalThis as unknown as { axe: { run(rules: RunOptions): Promise<AxeResults> } }).axe.run(rules),
    options,
  );
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(', ')}`);
}
