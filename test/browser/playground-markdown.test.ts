import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Gate } from '../support/gate.js';
import { expectAccessible } from './accessibility.js';
import { hasChromium } from './chromium.js';
import { PlaygroundPage } from './playground-page.js';
import { screenshot } from './screenshots.js';
import { WebStage, type SignedInPage } from './web-stage.js';

const FULL = `# A heading

A paragraph with **bold**, *emphasis*, ~~removed~~, \`code\`, a [link](https://example.com/a?b=c) and &amp; an entity.
A line of its own.

> A quotation
> of two lines

- one
- two
  - two and a half
- [x] done

3. three
4. four

| Model | Tokens |
| :---- | -----: |
| Fast  | 8192   |

\`\`\`python
print("Hello")  # <b>not bold</b>
\`\`\`

مرحبا بالعالم

---

The end.`;
/** For a machine that does other things, too. */
const PATIENCE = { timeout: 15_000 };
const NASTY = `<img src=x onerror="globalThis.ran = 1"> <script>globalThis.ran = 2</script>

<div onclick="globalThis.ran = 3">block</div>

[a](javascript:globalThis.ran=4) [b](data:text/html,x) [c](/local) ![d](https://example.com/d.png) <https://example.com/e>`;

const WORDS = 'The **quick** brown `fox` jumps over the [lazy](https://example.com) dog &amp; _runs_ away. ';
const lines = (count: number, lineOf: (index: number) => string) => Array.from({ length: count }, (_, i) => lineOf(i));
/** Blocks of about 50 KB. */
const LONG_BLOCKS: readonly [name: string, text: string][] = [
  ['paragraph', WORDS.repeat(550)],
  ['paragraph of lines', lines(550, () => WORDS.trimEnd()).join('\n')],
  ['paragraph without markup', 'word '.repeat(10_000).trimEnd()],
  ['list', lines(750, (i) => `- item ${i} with **bold** and \`code\` and some more words`).join('\n')],
  [
    'list with blank lines',
    lines(750, (i) => `${i + 1}. item ${i} with **bold** and \`code\`, more words`).join('\n\n'),
  ],
  [
    'list in a list',
    lines(750, (i) => `${i % 5 === 0 ? '' : '  '}- item ${i} with **bold** and \`code\`, more`).join('\n'),
  ],
  [
    'table',
    `| a | b |\n| - | -: |\n${lines(900, (i) => `| row ${i} **bold** | \`code\` and more words |`).join('\n')}`,
  ],
];

interface Grown {
  readonly isSame: boolean;
  /** The highest number of nodes that one piece of the text has added. */
  readonly mostAdded: number;
  /** The number of all nodes at the end. */
  readonly all: number;
}

/** As text, because the test runner changes imports. */
const GROW = `async (markdown) => {
  const script = document.querySelector('script[type=module]').src;
  const of = (path) => import(new URL(path, script).href);
  const { GrowingMarkdown } = await of('markdown/growing-markdown.js');
  const { blockNode } = await of('markdown/block-nodes.js');
  const { lexer } = await of('../marked.js');
  const [grown, whole] = [document.createElement('div'), document.createElement('div')];
  const growing = new GrowingMarkdown(grown, () => undefined);
  const observer = new MutationObserver(() => undefined);
  observer.observe(grown, { childList: true, subtree: true });
  let mostAdded = 0;
  for (let start = 0; start < markdown.length; start += 293) {
    growing.add(markdown.slice(start, start + 293));
    growing.flush();
    const added = observer.takeRecords().reduce((sum, { addedNodes }) => sum + addedNodes.length, 0);
    mostAdded = Math.max(mostAdded, added);
  }
  for (const token of lexer(markdown, { gfm: true, breaks: true })) {
    const node = blockNode(token);
    if (node !== undefined) whole.append(node);
  }
  const nodes = document.createNodeIterator(whole);
  let all = 0;
  while (nodes.nextNode() !== null) all++;
  for (const each of [grown, whole]) each.normalize();
  return { isSame: grown.innerHTML === whole.innerHTML, mostAdded, all };
}`;

describe.skipIf(!hasChromium)('Markdown in the playground in Chromium', () => {
  let web: WebStage;
  let opened: SignedInPage;
  let page: Page;
  let playground: PlaygroundPage;

  beforeAll(async () => {
    web = await WebStage.set();
  }, 60_000);
  afterAll(() => web.clear());
  beforeEach(async () => {
    opened = await web.open('/playground', { permissions: ['clipboard-read', 'clipboard-write'] });
    page = opened.page;
    playground = new PlaygroundPage(page);
  });
  afterEach(async () => {
    await page.context().close();
    expect(opened.complaints).toEqual([]);
  });

  const answer = () => page.locator('.answer .turn-text');
  const ask = async (text: string) => {
    web.provider.next((call) => {
      call.answer(text);
    });
    await playground.send('Write!');
    await expect.poll(() => playground.announcement(), PATIENCE).toContain('The answer is complete');
  };

  it('is shown with all its blocks, and is accessible', async () => {
    await ask(FULL);
    expect(await answer().locator('h4').innerText()).toBe('A heading');
    expect(await answer().locator('strong').innerText()).toBe('bold');
    expect(await answer().locator('del').innerText()).toBe('removed');
    expect(await answer().locator('p').first().innerText()).toContain('and & an entity.\nA line of its own.');
    expect(await answer().locator('blockquote').innerText()).toContain('A quotation');
    expect(await answer().locator('ul > li').count()).toBe(4);
    expect(await answer().locator('li', { hasText: '☑' }).innerText()).toContain('done');
    expect(await answer().locator('ol').getAttribute('start')).toBe('3');
    expect(await answer().getByRole('cell', { name: '8192' }).count()).toBe(1);
    expect(await answer().locator('pre').innerText()).toBe('print("Hello")  # <b>not bold</b>');
    expect(await answer().locator('.language').innerText()).toBe('python');
    const link = answer().getByRole('link', { name: 'link' });
    expect(await link.getAttribute('href')).toBe('https://example.com/a?b=c');
    expect(await link.getAttribute('rel')).toBe('noopener noreferrer');
    const arabic = answer().getByText('مرحبا بالعالم');
    expect(await arabic.getAttribute('dir')).toBe('auto');
    expect(await arabic.evaluate((block) => getComputedStyle(block).direction)).toBe('rtl');
    await expectAccessible(page, 'playground-markdown');
  }, 120_000);

  it.each(['light', 'dark'] as const)('has most of the page on a phone, %s', async (colorScheme) => {
    const phone = await web.open('/playground', { viewport: { width: 390, height: 844 }, hasTouch: true, colorScheme });
    web.provider.next((call) => {
      call.answer(FULL);
    });
    await new PlaygroundPage(phone.page).send('Write!');
    await expect
      .poll(() => new PlaygroundPage(phone.page).announcement(), PATIENCE)
      .toContain('The answer is complete');
    const conversation = await phone.page.locator('#conversation').boundingBox();
    expect(conversation?.height).toBeGreaterThan(844 * 0.4);
    await screenshot(phone.page, `playground-markdown-on-a-phone-${colorScheme}`);
    await phone.page.emulateMedia({ media: 'print' });
    await screenshot(phone.page, `playground-markdown-printed-${colorScheme}`);
    await phone.page.context().close();
  });

  it('runs nothing, loads nothing, and links only to the web', async () => {
    await ask(NASTY);
    expect(await answer().innerText()).toContain('<script>globalThis.ran = 2</script>');
    expect(await answer().locator('img, script, div[onclick]').count()).toBe(0);
    const links = await answer()
      .locator('a')
      .evaluateAll((all) => all.map((link) => link.getAttribute('href')));
    expect(links).toEqual(['https://example.com/d.png', 'https://example.com/e']);
    expect(await page.evaluate(() => 'ran' in globalThis)).toBe(false);
  });

  it('is the same however the pieces of the answer were cut', async () => {
    await ask(FULL);
    const whole = await answer().innerHTML();
    web.provider.next(async (call) => {
      call.head();
      for (const piece of FULL.match(/[\s\S]{1,9}/g) ?? []) {
        call.text(piece);
        await new Promise((resolve) => setTimeout(resolve, 4));
      }
      call.finish().endMarker().end();
    });
    await page.getByRole('button', { name: 'Regenerate' }).click();
    await expect.poll(() => playground.announcement(), PATIENCE).toContain('The answer is starting');
    await expect.poll(() => playground.announcement(), PATIENCE).toContain('The answer is complete');
    expect(await answer().innerHTML()).toBe(whole);
  });

  it('leaves the blocks that are finished alone while text arrives', async () => {
    const seen = new Gate();
    web.provider.next(async (call) => {
      call.head().text('First block.\n\n- one\n- two\n');
      await seen.opened;
      call.text('- three\n\n```js\nlet a;\n').text('let b;\n```\n').finish().endMarker().end();
    });
    await playground.send('Write!');
    await answer().locator('li').nth(1).waitFor();
    await answer().evaluate((text) => {
      for (const block of text.querySelectorAll('p, li:first-child')) block.setAttribute('data-seen', 'yes');
    });
    seen.open();
    await expect.poll(() => playground.announcement(), PATIENCE).toContain('The answer is complete');
    expect(await answer().locator('[data-seen]').count()).toBe(2);
    expect(await answer().locator('li').count()).toBe(3);
    expect(await answer().locator('pre').innerText()).toBe('let a;\nlet b;');
  });

  it.each(LONG_BLOCKS)(
    'is the same for a long %s as if it had come at once, and new text changes only its end',
    async (_, text) => {
      const { isSame, mostAdded, all } = await page.evaluate<Grown>(`(${GROW})(${JSON.stringify(text)})`);
      expect(isSame).toBe(true);
      // Without the split of long blocks, the last pieces would add nearly all nodes anew.
      if (all > 1000) expect(mostAdded).toBeLessThan(all / 4);
    },
    60_000,
  );

  it('copies the code of a block', async () => {
    await ask('```sh\necho "a  b"\n```');
    await page.getByRole('button', { name: 'Copy sh code' }).click();
    await answer().getByText('Copied').waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('echo "a  b"');
  });

  it('is shown as it is on a switch, also after a reload', async () => {
    await ask('**bold**\n\n1. one');
    await page.getByLabel('Show Markdown').uncheck();
    expect(await answer().textContent()).toBe('**bold**\n\n1. one');
    await expect.poll(() => page.evaluate(() => JSON.stringify(sessionStorage))).toContain('\\"markdown\\":false');
    await page.reload();
    await playground.answerIs('**bold**\n\n1. one');
    await page.getByLabel('Show Markdown').check();
    expect(await answer().locator('strong').innerText()).toBe('bold');
  });
});
