import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

const OUTPUT = join(import.meta.dirname, 'output');

const WIDTHS = { phone: 390, wide: 1280 } as const;
const SCHEMES = ['light', 'dark'] as const;

/** Takes one picture of the page as it is. */
export async function shot(page: Page, name: string): Promise<void> {
  await mkdir(OUTPUT, { recursive: true });
  await page.screenshot({ path: join(OUTPUT, `${name}.png`), fullPage: true });
}

/** Takes a picture of the page as it is on a phone and on a wide screen, light and dark, and looks at it in each. */
export async function picture(page: Page, name: string, look: (title: string) => Promise<void>): Promise<void> {
  for (const [device, width] of Object.entries(WIDTHS)) {
    for (const colorScheme of SCHEMES) {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      const title = `${name}-${device}-${colorScheme}`;
      await shot(page, title);
      await look(title);
    }
  }
}
