import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

const EXECUTABLE = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium';

/** Without them, Chromium looks for its maker's hosts all the time, and will not run as root. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export const hasChromium = existsSync(EXECUTABLE);

/** Whether it is a failure to have none. */
export const mustHaveChromium = process.env['CI'] === 'true' || process.env['REQUIRE_BROWSER'] === '1';

if (!hasChromium) {
  console.warn(`\n!!! There is no Chromium at ${EXECUTABLE}: the tests in a browser are LEFT OUT !!!\n`);
}

export async function launchChromium(flags: readonly string[] = []): Promise<Browser> {
  return chromium.launch({ executablePath: EXECUTABLE, args: [...FLAGS, ...flags] });
}
