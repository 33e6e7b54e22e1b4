import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assetPath } from '../../src/plugins/dashboard/assets/assets.js';
import { MODEL } from '../support/catalog.js';
import { Latch } from '../support/latch.js';
import { hasChromium } from './chromium.js';
import { WebStage } from './web-stage.js';

describe.skipIf(!hasChromium)('the typed client as an ES module in Chromium', () => {
  let web: WebStage;

  beforeAll(async () => {
    web = await WebStage.set();
  }, 60_000);
  afterAll(() => web.clear());

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
