import type { CDPSession, Page } from 'playwright-core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Latch } from '../support/latch.js';
import { expectAccessible } from './accessibility.js';
import { hasChromium } from './chromium.js';
import { PlaygroundPage } from './playground-page.js';
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
const TIMEOUT = { timeout: 15_000 };
const NASTY = `<img src=x onerror="globalThis.ran = 1"> <script>globalThis.ran = 2</script>

<div onclick="globalThis.ran = 3">block</div>

[a](javascript:globalThis.ran=4) [b](data:text/html,x) [c](/local) ![d](https://example.com/d.png) <https://example.com/e>`;

const repeat = (length: number, lineOf: (index: number) => string) =>
  Array.from({ length }, (_, index) => lineOf(index));
const SECTION = (index: number) => `## Section ${index}

A paragraph with **bold**, *emphasis* and \`code\`. ${'More words of it, as models write them. '.repeat(15)}

- one item of **${index}**
- another

| Model | Tokens |
| :-- | --: |
${repeat(12, (row) => `| Fast ${row} | ${row * 1000} |`).join('\n')}

\`\`\`python
${repeat(25, (line) => `def function_${line}(value):  # a comment\n    return value + ${line}`).join('\n')}
\`\`\`
`;
/** Answers of about 200 KB. */
const LONG_ANSWERS: readonly [name: string, text: string][] = [
  ['answer', repeat(80, SECTION).join('\n')],
  ['list', repeat(5_000, (index) => `- item ${index} with **bold** and \`code\``).join('\n')],
  [
    'table',
    `| a | b |\n| - | -: |\n${repeat(5_000, (index) => `| row ${index} **bold** | \`code\` and more |`).join('\n')}`,
  ],
  ['paragraph', 'The **quick** `fox` jumps over the [lazy](https://example.com) dog &amp; _runs_ away. '.repeat(2_400)],
];

/** The CPU time that the page may need after the end of an answer, in milliseconds. It needs a tenth on a machine of its own. */
const MAX_REST_MS = 5_000;
/** The most elements that the browser lays out together. */
const MAX_GROUP = 1_500;

describe.skipIf(!hasChromium)('Markdown in the playground in Chromium', () => {
  const web = WebStage.forSuite();
  let opened: SignedInPage;
  let page: Page;
  let playground: PlaygroundPage;
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
    await expect.poll(() => playground.announcement(), TIMEOUT).toContain('The answer is complete');
  };

  it('is shown with all its blocks, and is accessible', async () => {
    await ask(FULL);
    expect(await answer().locator('h3').innerText()).toBe('A heading');
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

  it('colors the code of a language that it knows, and copies it whole', async () => {
    await ask('```js\nconst a = `x\n${1}`; // one\n```\n\n```unknown\nconst b;\n```\n\nThe end.');
    const [known, unknown] = [answer().locator('pre').first(), answer().locator('pre').last()];
    await expect.poll(() => known.locator('.hljs-keyword').allInnerTexts(), TIMEOUT).toEqual(['const']);
    expect(await known.locator('.hljs-comment').innerText()).toBe('// one');
    expect(await known.innerText()).toBe('const a = `x\n${1}`; // one');
    expect(await unknown.locator('[class^=hljs]').count()).toBe(0);
    await page.getByRole('button', { name: 'Copy js code' }).click();
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toContain('const a = `x\n${1}`');
    await expectAccessible(page, 'playground-code');
  });

  it('draws formulas, and leaves amounts of money and wrong TeX alone', async () => {
    await ask(
      'It costs $5 and not $10. Then $a^2 + b^2 = c^2$ and \\(\\sqrt{x}\\).\n\n$$\n\\frac{1}{2}\n= x\n$$\n\n' +
        '\\[\n- y \\le 2\n\\]\n\nWrong: $\\frac{1$ and `$z$`.\n\n$$\n\\href{javascript:alert(1)}{x}\n$$',
    );
    await expect.poll(() => answer().locator('math').count(), TIMEOUT).toBe(5);
    expect(await answer().locator('.math.display math').count()).toBe(3);
    expect(await answer().locator('mfrac').count()).toBe(1);
    expect(await answer().locator('p').first().innerText()).toContain('It costs $5 and not $10. Then');
    expect(await answer().innerText()).toContain('$\\frac{1$ and $z$.');
    expect(await answer().locator('a').count()).toBe(0);
    await expectAccessible(page, 'playground-formulas');
  });

  it('shows a formula as text until its end has arrived', async () => {
    const seen = new Latch();
    web.provider.next(async (call) => {
      call.head().text('$$\n- \\frac{1}{2}');
      await seen.opened;
      call.text('\n= x\n$$\n\nThe end.').finish().endMarker().end();
    });
    await playground.send('Write!');
    await expect.poll(() => answer().textContent()).toContain('\\frac{1}{2}');
    expect(await answer().locator('li').count()).toBe(0);
    seen.open();
    await expect.poll(() => answer().locator('mfrac').count(), TIMEOUT).toBe(1);
    expect(await answer().locator('p').innerText()).toBe('The end.');
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
    await answer().locator('.hljs-comment').waitFor();
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
    await expect.poll(() => playground.announcement(), TIMEOUT).toContain('The answer is starting');
    await expect.poll(() => playground.announcement(), TIMEOUT).toContain('The answer is complete');
    await expect.poll(() => answer().innerHTML()).toBe(whole);
  });

  it('leaves the blocks that are finished alone while text arrives', async () => {
    const seen = new Latch();
    web.provider.next(async (call) => {
      call.head().text('First block.\n\n- one\n- two\n');
      await seen.opened;
      call.text('- three\n\n```js\nlet a;\n').text('let b;\n```\n').finish().endMarker().end();
    });
    await playground.send('Write!');
    await answer().locator('li').nth(1).waitFor();
    const finished = await answer().evaluateHandle((text) => [...text.querySelectorAll('p, li:first-child')]);
    seen.open();
    await expect.poll(() => playground.announcement(), TIMEOUT).toContain('The answer is complete');
    await expect.poll(() => answer().locator('pre').innerText()).toBe('let a;\nlet b;');
    expect(await answer().locator('li').count()).toBe(3);
    expect(await finished.evaluate((blocks) => blocks.map(({ isConnected }) => isConnected))).toEqual([true, true]);
  });

  /** CPU time, because other processes of the machine do not count. */
  const cpuMs = async (devTools: CDPSession) => {
    const { metrics } = await devTools.send('Performance.getMetrics');
    return 1_000 * (metrics.find(({ name }) => name === 'ThreadTime')?.value ?? 0);
  };

  it.each(LONG_ANSWERS)(
    'shows a long %s as it arrives, and its buttons after the last text',
    async (_, text) => {
      const devTools = await page.context().newCDPSession(page);
      await devTools.send('Performance.enable');
      const allSent = new Latch();
      web.provider.next(async (call) => {
        call.head();
        for (let start = 0; start < text.length; start += 2_000) {
          call.text(text.slice(start, start + 2_000));
          await new Promise((resolve) => setTimeout(resolve, 40));
        }
        call.text('\n\nThe very end.').finish().endMarker().end();
        allSent.open();
      });
      await playground.send('Write!');
      await allSent.opened;
      const before = await cpuMs(devTools);
      await page.getByRole('button', { name: 'Regenerate' }).waitFor({ timeout: 60_000 });
      const restMs = (await cpuMs(devTools)) - before;
      expect(await answer().evaluate(({ textContent }) => textContent.trimEnd().slice(-13))).toBe('The very end.');
      const groups = await answer().evaluate(({ children }) =>
        [...children].map((group) => group.querySelectorAll('*').length),
      );
      expect(groups.length).toBeGreaterThan(40);
      expect(Math.max(...groups)).toBeLessThan(MAX_GROUP);
      expect(restMs).toBeLessThan(MAX_REST_MS);
    },
    90_000,
  );

  it('is shown as it is on a switch, also after a reload', async () => {
    await ask('**bold**\n\n1. one');
    await page.getByLabel('Show Markdown').uncheck();
    await playground.answerIs('**bold**\n\n1. one');
    await expect.poll(() => page.evaluate(() => JSON.stringify(sessionStorage))).toContain('\\"markdown\\":false');
    await page.reload();
    await playground.answerIs('**bold**\n\n1. one');
    await page.getByLabel('Show Markdown').check();
    await expect.poll(() => answer().locator('strong').allInnerTexts()).toEqual(['bold']);
  });
});
