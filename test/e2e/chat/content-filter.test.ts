import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { UsageRecord } from '../../../src/usage/record/usage-record.js';
import { routesTo } from '../../support/catalog.js';
import { anthropic, openAi } from '../../../src/testing/provider/dialects.js';
import { ScriptedProvider } from '../../../src/testing/provider/scripted-provider.js';
import { answering } from '../../support/scripts.js';
import { startService, type RunningService } from '../../support/service.js';
import { openStream, stream } from '../../support/sse-client.js';
import { waitFor } from '../../support/wait-for.js';
import { wireOf } from '../../support/wire.js';

describe.each([
  ['openai', openAi, 'content_filter'],
  ['anthropic', anthropic, 'refusal'],
])('an answer that the content filter of the provider cuts: %s', (_, dialect, word) => {
  const records: UsageRecord[] = [];
  let provider: ScriptedProvider;
  let backup: ScriptedProvider;
  let service: RunningService;
  let key: string;

  beforeAll(async () => {
    [provider, backup] = await Promise.all([ScriptedProvider.start(dialect), ScriptedProvider.start()]);
    service = await startService({
      ...routesTo([provider, backup]),
      records,
    });
    ({ key } = await service.createKey());
  });
  beforeEach(() => {
    records.length = 0;
  });
  afterAll(async () => {
    await service.stop();
    await Promise.all([provider.stop(), backup.stop()]);
  });

  const record = () => waitFor(() => records[0], 'the record');

  it('is an error after some text, and never complete', async () => {
    provider.next((call) => {
      call.head().text('Once upon').finish(word).endMarker().end();
    });
    const answer = await openStream(service.origin, { key });

    expect(await wireOf(answer)).toMatchObject({ text: 'Once upon', terminal: 'content_filtered' });
    expect(answer.raw).not.toContain('"done":true');
    expect(await record()).toMatchObject({ outcome: 'rejected', errorCode: 'content_filtered', finishReason: word });
    expect(backup.calls).toEqual([]);
  });

  it.each([
    ['nothing', ''],
    ['reasoning', 'Hm.'],
  ])('is refused after %s, and is not tried elsewhere', async (_what, reasoning) => {
    provider.next((call) => {
      call.head();
      if (reasoning !== '') call.reasoning(reasoning);
      call.finish(word).endMarker().end();
    });
    const answer = await stream(service.origin, { key });

    expect(answer.status).toBe(400);
    expect((await answer.error()).code).toBe('upstream_rejected');
    expect(await record()).toMatchObject({ outcome: 'rejected', errorCode: 'upstream_rejected', finishReason: word });
    expect(backup.calls).toEqual([]);
  });

  it('says nothing against the provider', async () => {
    for (let count = 0; count < 6; count++) {
      provider.next((call) => {
        call.head().text('Once').finish(word).endMarker().end();
      });
      expect(await wireOf(await openStream(service.origin, { key }))).toMatchObject({ terminal: 'content_filtered' });
    }
    provider.next(answering('Hi'));
    expect(await wireOf(await openStream(service.origin, { key }))).toMatchObject({ text: 'Hi', terminal: 'done' });
    expect(backup.calls).toEqual([]);
  });
});
