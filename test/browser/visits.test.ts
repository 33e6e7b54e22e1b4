import { describe, expect, it } from 'vitest';
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { ApiKeysService } from '../../src/accounts/api-keys/api-keys.service.js';
import { signedIn } from '../support/account-session.js';
import { assetPath } from '../../src/plugins/dashboard/assets.controller.js';
import { MODEL } from '../support/catalog.js';
import { Latch } from '../support/latch.js';
import { expectAccessible } from './accessibility.js';
import { hasChromium, launchChromium } from './chromium.js';
import { PlaygroundPage } from './playground-page.js';
import { WebStage } from './web-stage.js';
import { complaintsOf } from './watched-page.js';
import { inEachForm } from './screenshots.js';

describe.skipIf(!hasChromium)('what people see of the service in Chromium', () => {
  const web = WebStage.forSuite();

  describe('the front door', () => {
    it('shows visitors what this is, which models there are, and where the documentation is', async () => {
      const browser = await launchChromium();
      const page = await browser.newPage();
      const complaints = complaintsOf(page);
      await page.goto(web.origin);
      await page.getByRole('heading', { level: 1 }).waitFor();
      expect(await page.getByRole('table').getByRole('rowheader').count()).toBe(1);
      await expectAccessible(page, 'front');
      await page.getByRole('banner').getByRole('link', { name: 'Docs' }).click();
      await page.getByRole('button', { name: 'API reference' }).click();
      await page.locator('.opblock-summary-path').first().waitFor();
      expect(await page.locator('.opblock-tag').first().textContent()).toBe('Chat');
      expect(await page.locator('header pre').textContent()).toContain(`curl -N ${web.origin}/api/v1/chat/stream`);
      await page.locator('.opblock-summary-control').first().click();
      await page.locator('.opblock-body table.headers').first().waitFor();
      await page.waitForFunction(() => document.getAnimations().every(({ playState }) => playState !== 'running'));
      // The headings and regions are those of Swagger UI.
      await expectAccessible(page, 'docs', ['heading-order', 'region']);
      await page.getByRole('link', { name: 'Back to Chat Streaming Service' }).click();
      await page.getByRole('heading', { level: 1 }).waitFor();
      expect(complaints).toEqual([]);
      await browser.close();
    }, 120_000);

    it('leads a new account to its first request, and then to the playground', async () => {
      const { page } = await web.visit(`${web.origin}/sign-up`);
      await page.getByLabel('Email').fill('newcomer@example.com');
      await page.getByLabel('Password').fill('seven green parrots');
      await page.getByRole('button', { name: 'Sign up' }).click();
      await page.getByRole('heading', { name: 'Get started' }).waitFor();
      expect(await page.locator('#sdk-line').innerText()).toContain(`new OpenAI({ baseURL: '${web.origin}/api/v1'`);
      await page.getByRole('main').getByRole('link', { name: 'API keys' }).click();
      await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor();
      await page.goBack();
      const done = page.locator('.steps .done');
      expect(await done.count()).toBe(1);
      await expectAccessible(page, 'get-started');
      await page.getByRole('main').getByRole('link', { name: 'playground' }).click();
      await new PlaygroundPage(page).ask('Hello!', 'Hello world');
      await page.locator('.receipt').getByText('tokens out').waitFor();
      await page.goto(web.origin);
      expect(await done.count()).toBe(2);
      await page.context().close();
    }, 120_000);
  });

  describe('the playground without JavaScript', () => {
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

  describe('200 API keys', () => {
    it('are found on a phone, active keys first', async () => {
      const person = await signedIn(web.stage.service);
      const keys = web.stage.service.app.get(ApiKeysService, { strict: false });
      for (let index = 0; index < 200; index++) {
        const { id } = await keys.create(person.accountId, { name: `service ${index}` });
        if (index < 110) await keys.revoke(id);
      }
      const { page, complaints } = await web.open('/settings/api-keys', {
        account: person,
        viewport: { width: 390, height: 844 },
      });
      const rows = page.getByRole('table').getByRole('rowheader');
      expect(await rows.count()).toBe(50);
      expect(await page.getByRole('table').getByText('Revoked').count()).toBe(0);
      await expectAccessible(page, 'api-keys-many');
      await page.getByLabel('Search').fill('service 19');
      await page.getByRole('button', { name: 'Apply' }).click();
      await page.waitForURL('**search=service+19**');
      // 190 to 199 are active, 19 is revoked.
      await expect.poll(() => rows.count()).toBe(11);
      expect(await rows.last().innerText()).toBe('service 19');
      await page.getByLabel('State').selectOption('Revoked');
      await page.getByRole('button', { name: 'Apply' }).click();
      await expect.poll(() => rows.count()).toBe(1);
      expect(complaints).toEqual([]);
      await page.context().close();
    }, 120_000);
  });

  describe('two tabs', () => {
    it('with two accounts: the tab of the first says who is signed in now, and sends nothing', async () => {
      const { page, account } = await web.open('/playground');
      const playground = new PlaygroundPage(page);
      await playground.ask('A secret of the first?', 'Hello world');
      const calls = web.provider.calls.length;
      const other = await signedIn(web.stage.service);
      await web.signIn(page, other);
      await playground.send('And another?');
      const failure = page.locator('.failure');
      await failure.getByText('You are signed in to another account').waitFor();
      await failure.getByText(`You are signed in as ${other.email} now.`).waitFor();
      await failure.getByText('Nothing was sent.').waitFor();
      expect(web.provider.calls).toHaveLength(calls);
      await expectAccessible(page, 'playground-other-account');

      await web.signIn(page, account);
      await page.getByRole('button', { name: 'Try again' }).click();
      await playground.answerIs('Hello world');
      await page.context().close();
    }, 120_000);

    it('with two accounts: a reload shows the second nothing of what the first has written', async () => {
      const { page, account } = await web.open('/playground');
      const playground = new PlaygroundPage(page);
      await playground.ask('A secret of the first?', 'Hello world');
      await page.getByLabel('System prompt').fill('A secret prompt');
      await web.signIn(page, await signedIn(web.stage.service));
      await page.reload();
      expect(await playground.turns()).toBe(0);
      expect(await page.getByLabel('System prompt').inputValue()).toBe('');

      await web.signIn(page, account);
      await page.reload();
      await playground.answerIs('Hello world');
      await page.context().close();
    }, 120_000);
  });

  describe('sign-in at an address without TLS', () => {
    it('shows no password field, and says what to do', async () => {
      const browser = await launchChromium(['--host-resolver-rules=MAP chat.lan 127.0.0.1']);
      const page = await browser.newPage();
      await page.goto(`${web.stage.origin.replace('127.0.0.1', 'chat.lan')}/playground`);
      await page.getByRole('heading', { name: 'HTTPS is required to sign in' }).waitFor();
      expect(await page.getByLabel('Password').count()).toBe(0);
      await expectAccessible(page, 'sign-in-without-tls');
      await browser.close();
    }, 120_000);
  });

  describe('the typed client as an ES module', () => {
    it('streams, lists models, and reports failures, without a bundler', async () => {
      const { page, complaints } = await web.open('/usage');
      const seen = new Latch();
      web.provider.next(async (call) => {
        call.head().text('First, ');
        await seen.opened;
        call.text('second 🦜').finish().endMarker().end();
      });
      await page.exposeFunction('tell', () => {
        seen.open();
      });
      // As text: the tests' own loader would replace a dynamic import.
      const outcome = await page.evaluate(`(async () => {
        const { ChatClient, ChatError } = await import('${assetPath('client.js')}');
        const chat = new ChatClient({ baseUrl: '/api/v1' });
        const request = { model: '${MODEL}', messages: [{ role: 'user', content: 'Hello!' }] };
        const stream = chat.stream(request);
        for await (const text of stream) await tell(text);
        const error = await chat.complete({ ...request, model: 'acme/none' }).catch((thrown) => thrown);
        const models = (await chat.models()).map(({ id }) => id);
        return { state: stream.state, models, code: error instanceof ChatError ? error.code : '' };
      })()`);
      expect(outcome).toEqual({
        state: { status: 'complete', text: 'First, second 🦜' },
        models: [MODEL],
        code: 'model_not_found',
      });
      expect(complaints.filter((complaint) => !complaint.includes('404'))).toEqual([]);
      await page.context().close();
    });
  });
});
