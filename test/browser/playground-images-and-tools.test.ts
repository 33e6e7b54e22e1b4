import type { Page } from 'playwright-core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Latch } from '../support/latch.js';
import { routesTo } from '../support/catalog.js';
import { expectAccessible } from './accessibility.js';
import { hasChromium } from './chromium.js';
import { PlaygroundPage } from './playground-page.js';
import { WebStage, type SignedInPage } from './web-stage.js';

/** A picture of one pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=';
const IMAGE_URL = `data:image/png;base64,${PNG}`;
const TOOL = {
  type: 'function',
  function: { name: 'get_weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
};

describe.skipIf(!hasChromium)('images, tools and two models in the playground in Chromium', () => {
  const web = WebStage.forSuite({
    catalog: (providers) => {
      const { models, ...rest } = routesTo(providers);
      const [model] = models;
      const textOnly = { ...model, id: 'acme/plain', name: 'Plain', capabilities: ['tools'] };
      return { ...rest, models: [{ ...model, capabilities: ['images', 'tools'] }, textOnly] };
    },
  });
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
  const lastRequest = () => web.provider.calls.at(-1)?.json ?? {};
  const addImage = async () => {
    const [picker] = await Promise.all([page.waitForEvent('filechooser'), button('Add files').click()]);
    await picker.setFiles([{ name: 'dot.png', mimeType: 'image/png', buffer: Buffer.from(PNG, 'base64') }]);
  };
  const isComplete = () => expect.poll(() => playground.announcement()).toContain('complete');

  it('send an image with its question, also after a reload, and give it back for editing', async () => {
    web.provider.next(
      (call) => {
        call.answer('A dot.');
      },
      (call) => {
        call.answer('Red.');
      },
    );
    await addImage();
    await page.getByRole('img', { name: 'Image 1' }).waitFor();
    await expectAccessible(page, 'playground-images');
    await playground.ask('What is this?', 'A dot.');
    const question = {
      role: 'user',
      content: [
        { type: 'text', text: 'What is this?' },
        { type: 'image_url', image_url: { url: IMAGE_URL } },
      ],
    };
    expect(lastRequest()['messages']).toEqual([question]);
    await page.reload();
    await playground.answerIs('A dot.');
    expect(await page.locator('.question img').getAttribute('src')).toBe(IMAGE_URL);
    await playground.ask('Which color?', 'Red.');
    expect(lastRequest()['messages']).toEqual([
      question,
      { role: 'assistant', content: 'A dot.' },
      { role: 'user', content: 'Which color?' },
    ]);
    await button('Edit').first().click();
    await button('Remove image 1').click();
    expect(await page.getByRole('img', { name: 'Image 1' }).count()).toBe(0);
  }, 60_000);

  it('make a large image smaller', async () => {
    const size = await page.evaluate(async () => {
      const canvas = Object.assign(document.createElement('canvas'), { width: 3136, height: 100 });
      canvas.getContext('2d')?.fillRect(0, 0, 10, 10);
      const blob = await new Promise<Blob | null>((resolve) => {
        canvas.toBlob(resolve, 'image/png');
      });
      const data = new DataTransfer();
      data.items.add(new File([blob ?? ''], 'wide.png', { type: 'image/png' }));
      document.dispatchEvent(new DragEvent('drop', { dataTransfer: data }));
      for (;;) {
        const image = document.querySelector<HTMLImageElement>('#images img');
        if (image?.complete === true) return [image.naturalWidth, image.naturalHeight];
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    });
    expect(size).toEqual([1568, 50]);
  });

  it('refuse an image for a model that takes none', async () => {
    await page.getByLabel('Model', { exact: true }).selectOption('acme/plain');
    await addImage();
    await page.getByText('dot.png: Plain takes no images.').waitFor();
    await page.getByLabel('Model', { exact: true }).selectOption('acme/fast');
    await addImage();
    await page.getByLabel('Model', { exact: true }).selectOption('acme/plain');
    const calls = web.provider.calls.length;
    await playground.send('What is this?');
    await page.getByText('Plain takes no images.').waitFor();
    expect(web.provider.calls).toHaveLength(calls);
  });

  it('show the calls of tools as they arrive, and send their results', async () => {
    const latch = new Latch();
    web.provider.next(
      async (call) => {
        call.head().text('Let me look. ').toolCall('get_weather', '{"city":"Rome"}', 'call_rome');
        await latch.opened;
        call.finish('tool_calls').endMarker().end();
      },
      (call) => {
        call.answer('It is sunny.');
      },
    );
    await page.getByLabel('Tools').fill('{');
    await playground.send('How is the weather in Rome?');
    await page.getByText('The tools are not a JSON array of functions.').waitFor();
    await page.getByLabel('Tools').fill(JSON.stringify([TOOL]));
    await button('Send').click();
    await expect.poll(() => page.locator('.tool-call pre').textContent()).toBe('{"city":"Rome"}');
    expect(await page.getByRole('heading', { name: 'Call of get_weather' }).count()).toBe(1);
    expect(await page.getByLabel('Result of get_weather').count()).toBe(0);
    latch.open();
    await page.getByLabel('Result of get_weather').fill('22 degrees');
    expect(lastRequest()['tools']).toEqual([expect.objectContaining(TOOL)]);
    await expectAccessible(page, 'playground-tools');
    await page.reload();
    expect(await page.getByLabel('Result of get_weather').inputValue()).toBe('22 degrees');
    await button('Send results').click();
    await playground.answerIs('It is sunny.');
    expect((lastRequest()['messages'] as object[]).slice(1)).toEqual([
      {
        role: 'assistant',
        content: 'Let me look. ',
        tool_calls: [
          { id: 'call_rome', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Rome"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'call_rome', content: '22 degrees' },
    ]);
    await page.getByText('Result: 22 degrees').waitFor();
    await button('Code').last().click();
    await expect.poll(() => page.locator('#request-code').textContent()).toContain('/api/v1/chat/completions');
    expect(await page.getByLabel('Python').isDisabled()).toBe(true);
  }, 60_000);

  it('go on with an answer with tools when its connection breaks, without a second request to the provider', async () => {
    const [arrived, latch] = [new Latch(), new Latch()];
    web.provider.next(async (call) => {
      call.head().text('One ');
      await arrived.opened;
      call.text('two ');
      await latch.opened;
      call.text('three').toolCall('get_weather', '{"city":"Rome"}').finish('tool_calls').endMarker().end();
    });
    const calls = web.provider.calls.length;
    await page.getByLabel('Tools').fill(JSON.stringify([TOOL]));
    await playground.send('How is the weather?');
    await playground.answerIs('One ');
    await page.context().setOffline(true);
    await page.locator('.turn-connection').getByText('Connection lost.').waitFor();
    arrived.open();
    await page.context().setOffline(false);
    await playground.answerIs('One two ');
    latch.open();
    await playground.answerIs('One two three');
    await page.getByLabel('Result of get_weather').waitFor();
    expect(web.provider.calls).toHaveLength(calls + 1);
    opened.complaints.splice(0);
  }, 60_000);

  it('answer one question by two models beside each other, and go on with either', async () => {
    const latch = new Latch();
    const answer = (text: string) => async (call: (typeof web.provider.calls)[number]) => {
      call.head().text(text);
      await latch.opened;
      call.text('.').finish().endMarker().end();
    };
    web.provider.next(answer('One'), answer('Two'), (call) => {
      call.answer('Three.');
    });
    await page.getByLabel('Compare with').selectOption('acme/plain');
    const next = web.provider.calls.length;
    await playground.send('How many?');
    const texts = () => page.locator('.answer .turn-text').allTextContents();
    await expect.poll(async () => (await texts()).sort()).toEqual(['One', 'Two']);
    expect(await page.locator('.answer h2').allTextContents()).toEqual(['Fast', 'Plain']);
    const boxes = await Promise.all((await page.locator('.answer').all()).map((one) => one.boundingBox()));
    expect(boxes[0]?.y).toBe(boxes[1]?.y);
    expect(await page.locator('.answer .turn-actions button:visible').count()).toBe(0);
    latch.open();
    await expect.poll(async () => (await texts()).sort()).toEqual(['One.', 'Two.']);
    await isComplete();
    expect(web.provider.calls.slice(next).map(({ json }) => json['messages'])).toEqual([
      [{ role: 'user', content: 'How many?' }],
      [{ role: 'user', content: 'How many?' }],
    ]);
    await expectAccessible(page, 'playground-two-models');
    const [first, other] = await texts();
    await page.reload();
    await expect.poll(texts).toEqual([first, other]);
    await button('Continue with this answer').click();
    await expect.poll(texts).toEqual([other, first]);
    await page.getByLabel('Compare with').selectOption('');
    await playground.ask('And now?', 'Three.');
    expect(lastRequest()['messages']).toEqual([
      { role: 'user', content: 'How many?' },
      { role: 'assistant', content: other },
      { role: 'user', content: 'And now?' },
    ]);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page
        .locator('#export > summary')
        .click()
        .then(() => button('Export Markdown').click()),
    ]);
    expect(download.suggestedFilename()).toMatch(/\.md$/);
  }, 60_000);

  it('stop an answer with tools in the service too', async () => {
    web.provider.next((call) => {
      call.head().text('On');
    });
    await page.getByLabel('Tools').fill(JSON.stringify([TOOL]));
    const next = web.provider.calls.length + 1;
    await playground.send('How is the weather?');
    await playground.answerIs('On');
    await button('Stop').click();
    const call = await web.provider.call(next);
    await call.over;
    expect(call.abortedAt).toBeDefined();
  });

  it('stop both answers at once, on a phone too', async () => {
    await page.setViewportSize({ width: 320, height: 640 });
    const slow = (call: (typeof web.provider.calls)[number]) => {
      call.head().text('On');
    };
    web.provider.next(slow, slow);
    await button('Settings').click();
    await page.getByLabel('Compare with').selectOption('acme/plain');
    await page.keyboard.press('Escape');
    const next = web.provider.calls.length;
    await playground.send('How many?');
    await expect.poll(() => page.locator('.answer .turn-text').allTextContents()).toEqual(['On', 'On']);
    await button('Stop').click();
    await expect.poll(() => page.getByText('Stopped. This partial answer').count()).toBe(2);
    for (const call of web.provider.calls.slice(next)) await call.over;
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
  });
});
