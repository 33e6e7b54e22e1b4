import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { ApiKeysService } from '../../../src/accounts/api-keys/api-keys.service.js';
import type { UsageRecord } from '../../../src/usage/record/usage-record.js';
import { UsageStore } from '../../../src/usage/store/usage-store.js';
import { MODEL, routesTo } from '../../support/catalog.js';
import { ScriptedProvider, type Script } from '../../../src/testing/provider/scripted-provider.js';
import { answering, beginning, refusing } from '../../support/scripts.js';
import { SeparateModels } from '../../support/separate-models.js';
import { openStream, startStream, stream } from '../../support/sse-client.js';
import { setStage, type Stage } from '../../support/stage.js';
import { waitFor } from '../../support/wait-for.js';

interface Row {
  readonly outcome: string;
  readonly error_code: string | null;
  readonly upstream: string | null;
  readonly attempts: number;
  readonly first_text_at: string | null;
  readonly ended_at: string;
  readonly prompt_tokens: number | null;
  readonly prompt_tokens_source: string;
  readonly completion_tokens: number | null;
  readonly completion_tokens_source: string;
  readonly cost_micros: number | null;
  readonly currency: string | null;
  readonly finish_reason: string | null;
}

const REPORTED = { inputTokens: 12, outputTokens: 34 };
/** As providers of OpenAI's protocol report it: in an event without a choice. */
const usage = ({ inputTokens, outputTokens } = REPORTED) =>
  `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: inputTokens, completion_tokens: outputTokens } })}\n\n`;
const talkOn: Script = beginning('Hi, how are you?');
const hang: Script = () => undefined;

describe('the ledger has exactly one record of a stream', () => {
  let stage: Stage;
  let backup: ScriptedProvider;
  let recorded: UsageRecord[];
  let known: number;
  /** A model whose provider times out soon after its text. */
  let short: string;

  beforeAll(async () => {
    recorded = [];
    stage = await setStage(2, {
      catalog: (providers) => {
        const one = routesTo(providers);
        const others = new SeparateModels(providers, 1);
        short = others.next('shortAfterText');
        return { upstreams: { ...one.upstreams, ...others.upstreams }, models: [...one.models, ...others.models] };
      },
      records: recorded,
    });
    [, backup] = stage.providers as [ScriptedProvider, ScriptedProvider];
  });
  beforeEach(async () => {
    backup.answers(refusing(500));
    known = (await rows()).length;
    recorded.length = 0;
  });
  afterAll(() => stage.clear());

  const rows = (): Promise<Row[]> =>
    stage.service.app.get(DataSource, { strict: false }).query('SELECT * FROM usage_records ORDER BY rowid');

  /** The record of the one stream that this test had. */
  async function record(model: string = MODEL): Promise<Row> {
    const newest = await waitFor(async () => {
      const all = await rows();
      return all.length > known ? all.slice(known) : undefined;
    }, 'the record');
    expect(newest).toHaveLength(1);
    expect(recorded).toHaveLength(1);
    const [only] = newest as [Row];
    expect(recorded[0]).toMatchObject({ outcome: only.outcome, model });
    return only;
  }

  it('that is complete, with what the provider reports', async () => {
    stage.provider.next((call) => {
      call.head().text('Hello').finish().write(usage()).endMarker().end();
    });
    await stream(stage.origin, { key: stage.key });
    const row = await record();
    expect(row).toMatchObject({
      outcome: 'completed',
      error_code: null,
      upstream: 'acme',
      attempts: 1,
      finish_reason: 'stop',
      prompt_tokens: 12,
      prompt_tokens_source: 'reported',
      completion_tokens: 34,
      completion_tokens_source: 'reported',
      cost_micros: null,
    });
    expect(row.first_text_at).not.toBeNull();
    expect(Date.parse(row.ended_at)).toBeGreaterThanOrEqual(Date.parse(row.first_text_at ?? ''));
  });

  it('that is complete, with an estimate where the provider reports nothing', async () => {
    stage.provider.next(answering('one two three four five six seven'));
    await stream(stage.origin, { key: stage.key });
    const row = await record();
    expect(row).toMatchObject({ prompt_tokens_source: 'estimated', completion_tokens_source: 'estimated' });
    expect(row.prompt_tokens).toBeGreaterThanOrEqual(1);
    expect(row.completion_tokens).toBeGreaterThanOrEqual(5);
    expect(row.completion_tokens).toBeLessThanOrEqual(10);
  });

  it('of a long answer without text in memory, with an estimate of all of it', async () => {
    stage.provider.next(
      answering(...Array.from({ length: 1000 }, () => 'The quick brown fox jumps over the lazy dog. ')),
    );
    await stream(stage.origin, { key: stage.key });
    const { completion_tokens: tokens } = await record();
    expect(tokens).toBeGreaterThan(8_000);
    expect(tokens).toBeLessThan(12_000);
  });

  it('whose client left before the provider answered: its tokens are unknown', async () => {
    const number = stage.provider.calls.length + 1;
    stage.provider.next(hang);
    const { leave } = startStream(stage.origin, { key: stage.key });
    await stage.provider.call(number);
    leave();
    expect(await record()).toMatchObject({
      outcome: 'client_gone',
      first_text_at: null,
      prompt_tokens: null,
      prompt_tokens_source: 'unknown',
      completion_tokens: null,
      completion_tokens_source: 'unknown',
    });
  });

  it('whose client left in the middle: an estimate of what was written until then', async () => {
    stage.provider.next(talkOn);
    const answer = await openStream(stage.origin, { key: stage.key });
    await answer.block(1);
    answer.leave();
    expect(await record()).toMatchObject({
      outcome: 'client_gone',
      prompt_tokens_source: 'estimated',
      completion_tokens: 5,
      completion_tokens_source: 'estimated',
    });
  });

  it('that no provider answered, with all providers that were tried', async () => {
    stage.provider.next(refusing(500));
    expect((await stream(stage.origin, { key: stage.key })).status).toBe(502);
    expect(await record()).toMatchObject({
      outcome: 'upstream_failed',
      error_code: 'upstream_error',
      upstream: 'backup',
      attempts: 2,
      first_text_at: null,
      prompt_tokens_source: 'unknown',
      completion_tokens_source: 'unknown',
    });
    expect(recorded[0]?.attempts.map(({ upstream, code }) => [upstream, code])).toEqual([
      ['acme', 'upstream_error'],
      ['backup', 'upstream_error'],
    ]);
  });

  it('that the second provider answered', async () => {
    stage.provider.next(refusing(503));
    backup.next((call) => {
      call.head().text('Hello').finish().write(usage()).endMarker().end();
    });
    await stream(stage.origin, { key: stage.key });
    expect(await record()).toMatchObject({ outcome: 'completed', upstream: 'backup', attempts: 2, prompt_tokens: 12 });
  });

  it('that broke off after text, and does not read a count of the middle as the total', async () => {
    stage.provider.next((call) =>
      call
        .head()
        .write(usage({ inputTokens: 12, outputTokens: 1 }))
        .text('one two three four five six seven')
        .cut('fin'),
    );
    await stream(stage.origin, { key: stage.key });
    const row = await record();
    expect(row).toMatchObject({
      outcome: 'upstream_failed',
      prompt_tokens: 12,
      prompt_tokens_source: 'reported',
      completion_tokens_source: 'estimated',
    });
    expect(row.completion_tokens).toBeGreaterThan(4);
    expect(row.first_text_at).not.toBeNull();
  });

  it('that timed out', async () => {
    stage.provider.next(talkOn);
    await stream(stage.origin, { key: stage.key, body: { model: short } });
    expect(await record(short)).toMatchObject({ outcome: 'timed_out', error_code: 'upstream_timeout' });
  });

  it('that the provider refused', async () => {
    stage.provider.next(refusing(400));
    await stream(stage.origin, { key: stage.key });
    expect(await record()).toMatchObject({ outcome: 'rejected', error_code: 'upstream_rejected' });
  });

  it('whose key was revoked', async () => {
    stage.provider.next(talkOn);
    const { id, key } = await stage.service.createKey();
    const answer = await openStream(stage.origin, { key });
    await answer.block(1);
    await stage.service.app.get(ApiKeysService, { strict: false }).revoke(id);
    await answer.over;
    expect(await record()).toMatchObject({ outcome: 'revoked', error_code: 'key_revoked' });
  });

  it('and none of a request that was not admitted', async () => {
    for (const body of ['{', { model: 'acme/none' }, { messages: [] }]) {
      expect((await stream(stage.origin, { key: stage.key, body })).status).toBeGreaterThanOrEqual(400);
    }
    expect((await stream(stage.origin, { key: 'csk_none' })).status).toBe(401);
    stage.provider.next(answering('Hi'));
    await stream(stage.origin, { key: stage.key });
    await record();
  });
});

describe('a process that may be killed', () => {
  it('has written a stream to the ledger before its provider is called', async () => {
    const stage = await setStage();
    const callsAfterWrite: number[] = [];
    const { open } = UsageStore.prototype;
    // A provider would be called within a tenth of a second.
    vi.spyOn(UsageStore.prototype, 'open').mockImplementation(async function (this: UsageStore, batch) {
      await sleep(100);
      await open.call(this, batch);
      callsAfterWrite.push(stage.provider.calls.length);
    });
    try {
      expect((await stream(stage.origin, { key: stage.key })).status).toBe(200);
      expect([callsAfterWrite, stage.provider.calls.length]).toEqual([[0], 1]);
    } finally {
      vi.restoreAllMocks();
      await stage.clear();
    }
  });
});
