import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const OUTPUT = join(import.meta.dirname, 'output');
/** Screenshots are for people to look at, and take a third of the time of the tests in a browser. */
const taken = process.env['TEST_SCREENSHOTS'] === 'true';

const WIDTHS = { phone: 390, wide: 1280 } as const;
const SCHEMES = ['light', 'dark'] as const;

/** A screen and the color scheme of a page. */
export interface Form {
  readonly title: string;
  readonly colorScheme: (typeof SCHEMES)[number];
}

/** Resolves when the page has been drawn twice. Scripts learn of a color scheme right before the page is drawn. */
const isDrawn = (): Promise<unknown> =>
  new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
/** A page without JavaScript runs no timers and no callbacks of frames. */
const WITHOUT_SCRIPTS_MS = 250;

const hasRunningTransitions = (): boolean =>
  document.getAnimations().some((each) => each instanceof CSSTransition && each.playState === 'running');

/** With `TEST_SCREENSHOTS=true`, writes a picture of the whole page to test/browser/output. */
export async function screenshot(page: Page, name: string): Promise<void> {
  if (!taken) return;
  await mkdir(OUTPUT, { recursive: true });
  await page.screenshot({ path: join(OUTPUT, `${name}.png`), fullPage: true });
}

/** Shows the page on a phone and on a wide screen, light and dark, and looks at it in each form. Takes a screenshot of each. */
export async function inEachForm(page: Page, name: string, look?: (form: Form) => Promise<void>): Promise<void> {
  for (const [device, width] of Object.entries(WIDTHS)) {
    for (const colorScheme of SCHEMES) {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await Promise.race([page.evaluate(isDrawn).catch(() => undefined), wait(WITHOUT_SCRIPTS_MS)]);
      // Colors that still change have another contrast.
      await expect.poll(() => page.evaluate(hasRunningTransitions)).toBe(false);
      const title = `${name}-${device}-${colorScheme}`;
      await screenshot(page, title);
      await look?.({ title, colorScheme });
    }
  }
}
