import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

/** By preference. The headless shell has no windows and toolbars: it takes a quarter of the CPU time for a new page. */
const PROGRAMS = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];
const EXECUTABLE = process.env['CHROMIUM_PATH'] ?? PROGRAMS.find((path) => existsSync(path)) ?? '';

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
  console.warn(
    `\n!!! There is no Chromium at ${EXECUTABLE || PROGRAMS.join(' or ')}: the tests in a browser are LEFT OUT !!!\n`,
  );
}

export async function launchChromium(flags: readonly string[] = []): Promise<Browser> {
  return chromium.launch({ executablePath: EXECUTABLE, args: [...FLAGS, ...flags] });
}
