import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasChromium } from './chromium.js';
import { inEachForm } from './screenshots.js';
import { WebStage } from './web-stage.js';

describe.skipIf(!hasChromium)('the playground without JavaScript', () => {
  let web: WebStage;

  beforeAll(async () => {
    web = await WebStage.set();
  }, 60_000);
  afterAll(() => web.clear());

  it('shows a request for a terminal, and nothing pretends to work', async () => {
    const { page } = await web.open('/playground', { javaScriptEnabled: false });
    await page.getByText('The playground needs JavaScript').waitFor();
    expect(await page.getByLabel('Message').isVisible()).toBe(false);
    await page.getByText('This request as curl').click();
    expect(await page.getByRole('button', { name: 'Copy' }).isVisible()).toBe(false);
    const command = (await page.locator('#curl-command').textContent()) ?? '';
    const { key } = await web.stage.service.createKey();
    // Not synchronously, as the service runs in this process.
    const shell = spawn('bash', ['-c', command.replace('curl -N', 'curl -sS -N')], {
      env: { PATH: process.env['PATH'], HOME: '/nowhere', API_KEY: key },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    expect(await text(shell.stdout)).toContain('"done":true');
    await inEachForm(page, 'playground-without-javascript');
    await page.context().close();
  });
});
