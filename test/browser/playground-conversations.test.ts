import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { signedIn } from '../support/account-session.js';
import { expectAccessible, expectNoComplaint } from './accessibility.js';
import { hasChromium } from './chromium.js';
import { PlaygroundPage } from './playground-page.js';
import { WebStage, type SignedInPage } from './web-stage.js';

describe.skipIf(!hasChromium)('the conversations of the playground in Chromium', () => {
  const web = WebStage.forSuite();
  let opened: SignedInPage;
  let page: Page;
  let playground: PlaygroundPage;
  beforeEach(async () => {
    opened = await web.open('/playground', { acceptDownloads: true });
    page = opened.page;
    playground = new PlaygroundPage(page);
  });
  afterEach(async () => {
    expect(opened.complaints).toEqual([]);
    await page.context().close();
  });

  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const dialog = () => page.getByRole('dialog', { name: 'Conversations' });
  const titles = () => dialog().locator('li button span').allInnerTexts();
  const answers = (...texts: string[]) => {
    web.provider.next(
      ...texts.map((text) => (call: { answer(text: string): void }) => {
        call.answer(text);
      }),
    );
  };
  const edit = async (text: string) => {
    await button('Edit').first().click();
    await page.getByLabel('Message').fill(text);
    await button('Send').click();
  };

  it('are there after a reload, for this account only, until it signs out', async () => {
    answers('In Florence.');
    await playground.ask('Where was Dante born?', 'In Florence.');
    const listed = async () => {
      await button('History').click();
      await dialog()
        .getByText(/^\d conversations?$/)
        .waitFor();
      return titles();
    };
    await web.signIn(page, await signedIn(web.stage.service));
    await page.reload();
    expect(await listed()).toEqual([]);
    await web.signIn(page, opened.account);
    await page.reload();
    await playground.answerIs('In Florence.');
    expect(await listed()).toEqual(['Where was Dante born?']);
    await button('Close').click();

    await button('Sign out').click();
    await page.waitForURL('**/sign-in');
    await page.getByLabel('Email').fill(opened.account.email);
    await page.getByLabel('Password').fill('correct horse battery');
    await page.getByRole('main').getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL('**/playground');
    expect(await playground.turns()).toBe(0);
    expect(await listed()).toEqual([]);
  }, 60_000);

  it('have branches: an edited question and a new answer keep what was there', async () => {
    answers('One.', 'Two.', 'Three.', 'Four.');
    await playground.ask('First?', 'One.');
    await playground.ask('Second?', 'Two.');
    await edit('Another first?');
    await playground.answerIs('Three.');
    await page.getByText('Branch 2 of 2').waitFor();
    expect(await playground.turns()).toBe(2);

    await button('Previous branch').focus();
    await page.keyboard.press('Enter');
    await playground.answerIs('Two.');
    expect(await playground.turns()).toBe(4);
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Next branch');
    await page.reload();
    await playground.answerIs('Two.');
    await button('Next branch').click();
    await playground.answerIs('Three.');

    await button('Regenerate').click();
    await playground.answerIs('Four.');
    await page.getByText('Branch 3 of 3').waitFor();
    await button('Previous branch').click();
    await playground.answerIs('Three.');
    await expectAccessible(page, 'playground-branches');
  }, 60_000);

  it('can all be deleted', async () => {
    await button('History').click();
    await dialog().getByText('0 conversations').waitFor();
    expect(await button('Delete all').isDisabled()).toBe(true);
    await button('Close').click();
    answers('One.');
    await playground.ask('First?', 'One.');
    await button('Clear').click();
    await button('Undo').click();
    await playground.answerIs('One.');
    await button('History').click();
    await expect.poll(titles).toEqual(['First?']);
    page.once('dialog', (asked) => void asked.accept());
    await button('Delete all').click();
    await dialog().getByText('0 conversations').waitFor();
    await button('Close').click();
    expect(await playground.turns()).toBe(0);
    await page.reload();
    expect(await playground.turns()).toBe(0);
    await page.setViewportSize({ width: 320, height: 640 });
    await button('History').click();
    await expectNoComplaint(page, 'history at 320 pixels');
  });

  it('are listed, and one is found, exported and deleted', async () => {
    answers('In Florence.', 'In 1492.');
    await playground.ask('Where was Dante born?', 'In Florence.');
    await button('History').click();
    await button('New conversation').click();
    await playground.ask('When did Columbus sail?', 'In 1492.');
    await button('History').click();
    await expect.poll(titles).toEqual(['When did Columbus sail?', 'Where was Dante born?']);
    await expectAccessible(page, 'playground-history');
    await page.getByLabel('Search').fill('FLORENCE');
    await expect.poll(titles).toEqual(['Where was Dante born?']);
    const [file] = await Promise.all([page.waitForEvent('download'), button('Export all (JSON)').click()]);
    const { conversations } = JSON.parse(await readFile(await file.path(), 'utf8')) as { conversations: object[] };
    expect(conversations).toMatchObject([
      { title: 'When did Columbus sail?', turns: [{ answer: 'In 1492.' }] },
      { title: 'Where was Dante born?', turns: [{ answer: 'In Florence.' }] },
    ]);
    await dialog().getByText('Where was Dante born?').click();
    await playground.answerIs('In Florence.');
    await button('History').click();
    await button('Delete “Where was Dante born?”').click();
    await expect.poll(titles).toEqual(['When did Columbus sail?']);
    await button('Close').click();
    expect(await playground.turns()).toBe(0);
  }, 60_000);

  it('take text files from a picker and by dropping them, and refuse what is no text', async () => {
    const next = web.provider.calls.length + 1;
    await page.getByLabel('Message').fill('What is this?');
    const file = (name: string, text: string) => ({
      name,
      mimeType: 'text/plain',
      buffer: Buffer.from(text, 'latin1'),
    });
    const [picker] = await Promise.all([page.waitForEvent('filechooser'), button('Add files').click()]);
    await picker.setFiles([file('list.md', 'One\n```\nTwo'), file('photo.png', '\x89PNG\0')]);
    await page.getByText('The file is in the message. photo.png: Only images, and text files').waitFor();
    const dropped = await page.evaluateHandle(() => {
      const data = new DataTransfer();
      data.items.add(new File(['Three'], 'more.txt'));
      return data;
    });
    await page.dispatchEvent('#conversation', 'drop', { dataTransfer: dropped });
    await expect.poll(() => page.getByLabel('Message').inputValue()).toContain('more.txt');
    await expectAccessible(page, 'playground-files');
    await button('Send').click();
    await expect.poll(() => playground.announcement()).toContain('complete');
    expect((await web.provider.call(next)).json['messages']).toEqual([
      {
        role: 'user',
        content: 'What is this?\n\nlist.md:\n````\nOne\n```\nTwo\n````\n\nmore.txt:\n```\nThree\n```\n',
      },
    ]);
  }, 60_000);

  it('are there after a reload when the storage of the tab is too small for them', async () => {
    await page.evaluate(() => {
      sessionStorage.setItem('other', 'x'.repeat(5 * 1024 * 1024 - 30_000));
    });
    const long = 'word '.repeat(12_000).trim();
    answers(long);
    await playground.ask('Say a lot.', long);
    await page.reload();
    await playground.answerIs(long);
  }, 60_000);
});
