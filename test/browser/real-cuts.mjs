// Cuts the network of the playground for 5, 30 and 120 seconds of real time in the middle of an answer, and checks that each
// answer is whole and charged once. The tests of the playground do the same with a simulated clock. This takes four minutes, so
// it is no part of `npm test`. Run `node test/browser/real-cuts.mjs` after `npm run build`.
import { existsSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { AccountsService } from '../../dist/accounts/accounts/accounts.service.js';
import { SessionsService } from '../../dist/accounts/sessions/sessions.service.js';
import { configFor, createTestService, ScriptedProvider, TEST_MODEL } from '../../dist/testing.js';

const PROGRAM = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((path) => existsSync(path));
const SIZES = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };
const SECONDS = [5, 30, 120];
const WORD_MS = 500;
const PASSWORD = 'seven green parrots';

/** A proxy in front of the service that can destroy its connections and refuse new ones. */
class Network {
  sockets = new Set();
  isCut = false;

  /** @param {number} port */
  async start(port) {
    this.server = createServer((client) => {
      const target = connect(port, '127.0.0.1');
      for (const [socket, other] of [
        [client, target],
        [target, client],
      ]) {
        this.sockets.add(socket);
        socket.on('error', () => undefined).on('close', () => (this.sockets.delete(socket), other.destroy()));
        socket.pipe(other);
      }
      if (this.isCut) client.resetAndDestroy();
    });
    await new Promise((listening) => this.server.listen(0, '127.0.0.1', listening));
    return this.server.address().port;
  }

  cut() {
    this.isCut = true;
    for (const socket of this.sockets) socket.resetAndDestroy();
  }

  restore() {
    this.isCut = false;
  }
}

const provider = await ScriptedProvider.start();
provider.answers(async (call) => {
  const [, words] = /^(\d+) words/.exec(call.json.messages.at(-1).content);
  call.head();
  for (let word = 1; word <= Number(words); word++) {
    call.text(`word${word} `);
    await delay(WORD_MS);
  }
  call.finish().endMarker().end();
});
const config = configFor(provider);
const model = config.models.find(({ id }) => id === TEST_MODEL);
model.price = { input_per_million: 1, output_per_million: 2 };
const service = await createTestService({ config });
const get = (type) => service.app.get(type, { strict: false });
const browser = await chromium.launch({ executablePath: PROGRAM, args: ['--no-sandbox', '--disable-gpu'] });

/** The ways in which the network disappears and returns. */
const WAYS = {
  /** Connections are reset, and new connections are refused. */
  async reset({ network, seconds }) {
    network.cut();
    await delay(seconds * 1000);
    network.restore();
  },
  /** The browser reports that it is offline. */
  async offline({ page, seconds }) {
    await page.context().setOffline(true);
    await delay(seconds * 1000);
    await page.context().setOffline(false);
  },
  /** The user loads the page again without a network, and then with it. */
  async reload({ page, network, seconds }) {
    network.cut();
    await delay((seconds * 1000) / 2);
    await page.reload().catch(() => undefined);
    await delay((seconds * 1000) / 2);
    network.restore();
    await page.goto(page.origin + '/playground');
  },
};

/** @returns {Promise<string[]>} what is wrong */
async function check({ size, way, seconds, ending }) {
  const network = new Network();
  const origin = `http://localhost:${await network.start(Number(new URL(service.origin).port))}`;
  const page = await (await browser.newContext({ viewport: SIZES[size] })).newPage();
  page.setDefaultTimeout(60_000);
  page.origin = origin;
  const email = `${size}-${way}-${seconds}-${ending}@example.com`;
  const account = await get(AccountsService).create({ email, password: PASSWORD });
  const { token } = await get(SessionsService).create(account.id);
  const url = origin.replace('http:', 'https:');
  await page.context().addCookies([{ name: '__Host-session', value: token, url, secure: true, httpOnly: true }]);
  await page.goto(`${origin}/playground`);
  await page.evaluate(() => {
    globalThis.heard = [];
    new MutationObserver(() => globalThis.heard.push(document.querySelector('#announcer').textContent)).observe(
      document.querySelector('#announcer'),
      { childList: true, characterData: true, subtree: true },
    );
  });
  // The answer ends some seconds after the cut, or in its middle.
  const words = ending === 'after' ? (seconds + 15) * (1000 / WORD_MS) : 6 + seconds;
  await page.getByLabel('Message').fill(`${words} words, please.`);
  await page.getByRole('button', { name: 'Send' }).click();
  const answer = page.locator('.answer .turn-text').last();
  await answer.getByText('word3').waitFor();
  const problems = [];
  const expectThat = (fact, text) => {
    if (!fact) problems.push(text);
  };
  const over = WAYS[way]({ page, network, seconds });
  const notice = page.locator('.turn-connection').last();
  if (way !== 'reload') {
    await notice.getByText(/^Connection lost\. Reconnecting… The last text arrived at /).waitFor({ timeout: 4_500 });
    expectThat(
      (await page.evaluate(() => globalThis.heard)).some((text) => text.startsWith('Connection lost. Reconnecting…')),
      'not announced',
    );
    await delay(seconds * 500);
    expectThat(await notice.isVisible(), 'the notice is gone in the middle of the cut');
  }
  await over;
  const since = Date.now();
  const last = answer.getByText(`word${words}`);
  if (way !== 'reload') {
    await page.waitForFunction(() => [...document.querySelectorAll('.turn-connection')].at(-1)?.textContent === '');
  }
  const goesOnAfterMs = Date.now() - since;
  await last.waitFor();
  await page.locator('.receipt').last().waitFor();
  const expected = Array.from({ length: words }, (_, index) => `word${index + 1}`).join(' ');
  expectThat((await answer.textContent()).trim() === expected, `text: ${await answer.textContent()}`);
  expectThat((await page.locator('.failure').count()) === 0, 'an error is shown');
  const usage = await (await page.request.get(`${origin}/api/v1/usage`)).json();
  expectThat(usage.usage.length === 1 && usage.usage[0].requests === 1, `usage: ${JSON.stringify(usage.usage)}`);
  await page.context().close();
  network.server.close();
  return { problems, goesOnAfterMs, usage: usage.usage };
}

const cases = Object.keys(SIZES).flatMap((size) =>
  Object.keys(WAYS).flatMap((way) =>
    SECONDS.flatMap((seconds) => ['after', 'during'].map((ending) => ({ size, way, seconds, ending }))),
  ),
);
try {
  for (const seconds of SECONDS) {
    const group = cases.filter((each) => each.seconds === seconds);
    await Promise.all(
      group.map(async (each) => {
        const { problems, goesOnAfterMs, usage } = await check(each).catch((error) => ({ problems: [String(error)] }));
        if (problems.length > 0) process.exitCode = 1;
        console.log(
          Object.values(each).join(' '),
          problems.length > 0 ? problems.join('; ') : 'ok',
          `goes on after ${goesOnAfterMs} ms`,
          JSON.stringify(usage),
        );
      }),
    );
  }
} finally {
  await browser.close();
  await service.stop();
  await provider.stop();
}
