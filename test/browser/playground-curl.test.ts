import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hasChromium } from './chromium.js';
import { PlaygroundPage } from './playground-page.js';
import { picture } from './screenshots.js';
import { WebStage } from './web-stage.js';

const NASTY = `it's "quoted", $HOME \`date\` $(date) \\ !! % #\nand 🦜 €`;

describe.skipIf(!hasChromium)('the request as curl in Chromium', () => {
  let web: WebStage;
  let page: Page;
  let playground: PlaygroundPage;
  let next: number;

  beforeAll(async () => {
    web = await WebStage.set();
  }, 60_000);
  afterAll(() => web.clear());
  beforeEach(async () => {
    next = web.provider.calls.length + 1;
    const permissions = ['clipboard-read', 'clipboard-write'];
    ({ page } = await web.open('/playground', { permissions }));
    playground = new PlaygroundPage(page);
  });
  afterEach(() => page.context().close());

  async function copied(): Promise<string> {
    await page.getByText('This request as curl').click();
    await page.getByRole('button', { name: 'Copy' }).click();
    await page.getByText('Copied').waitFor();
    return page.evaluate(() => navigator.clipboard.readText());
  }

  /** In a shell of its own, with a real key; not synchronously, as the service runs in this process. */
  async function run(command: string): Promise<string> {
    const { key } = await web.stage.service.createKey();
    const shell = spawn('bash', ['-c', command.replace('curl -N', 'curl -sS -N')], {
      env: { PATH: process.env['PATH'], HOME: '/nowhere', API_KEY: key },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    return text(shell.stdout);
  }

  it('is copied, and in a shell it is the very request that Send would send', async () => {
    await page.getByLabel('System prompt').fill(`Don't stop`);
    await page.getByLabel('Max tokens').fill('64');
    await playground.ask('First?', 'Hello world');
    await page.getByLabel('Message').fill(NASTY);
    const command = await copied();
    expect(command).not.toContain('csk_');
    const output = await run(command);
    expect(output).toContain('data: {"content":"Hello');
    expect(output.trimEnd().endsWith('data: {"content":"","done":true}')).toBe(true);

    await page.getByRole('button', { name: 'Send' }).click();
    const [fromShell, fromPage] = [await web.provider.call(next + 1), await web.provider.call(next + 2)];
    expect(fromShell.json['messages']).toHaveLength(4);
    expect(fromShell.body).toBe(fromPage.body);
  });

  it('follows what is written while it is shown', async () => {
    await page.getByText('This request as curl').click();
    await page.getByLabel('Message').fill('Now this');
    await expect.poll(() => page.locator('#curl-command').textContent()).toContain('"content":"Now this"');
    await page.getByLabel('Temperature').fill('0');
    await expect.poll(() => page.locator('#curl-command').textContent()).toContain('"temperature":0');
  });

  it('without JavaScript is there to be tried, and nothing pretends to work', async () => {
    const { page: plain } = await web.open('/playground', { javaScriptEnabled: false });
    await plain.getByText('The playground needs JavaScript').waitFor();
    expect(await plain.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true);
    await plain.getByText('This request as curl').click();
    expect(await plain.getByRole('button', { name: 'Copy' }).isVisible()).toBe(false);
    expect(await run((await plain.locator('#curl-command').textContent()) ?? '')).toContain('"done":true');
    await picture(plain, 'playground-without-javascript', () => Promise.resolve());
    await plain.context().close();
  });
});
