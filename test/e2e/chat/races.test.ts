import { afterEach, describe, expect, it, vi } from 'vitest';
import { ApiKeysService } from '../../../src/accounts/api-keys/api-keys.service.js';
import { OpenStreams } from '../../../src/chat/stream/open-streams.js';
import type { KeyedCount } from '../../../src/platform/common/counts/counters.js';
import { DrainState } from '../../../src/platform/common/drain-state.js';
import { BodiesInFlight } from '../../../src/platform/http/body/bodies-in-flight.js';
import { ClientConnections } from '../../../src/platform/http/connections/client-connections.js';
import { InProcessLimitStore } from '../../../src/throttling/in-process/in-process-limit-store.js';
import type { Admission, AdmissionRequest } from '../../../src/throttling/limit-store.js';
import { limitsOf } from '../../../src/throttling/account-limits.js';
import type { AttemptTrace } from '../../../src/upstreams/completion/call-trace.js';
import { AttemptFactory } from '../../../src/upstreams/routing/attempt-factory.js';
import type { UsageRecord } from '../../../src/usage/record/usage-record.js';
import { UsageStore } from '../../../src/usage/store/usage-store.js';
import { beginning } from '../../support/scripts.js';
import { Upload } from '../../hostile/support/upload.js';
import { Latch } from '../../support/latch.js';
import { HELLO, openStream, startStream, type ReceivedStream } from '../../support/sse-client.js';
import { setStage, type Stage, type StageOptions } from '../../support/stage.js';
import { waitFor } from '../../support/wait-for.js';
import { wireOf } from '../../support/wire.js';

const TIER = { concurrent_streams: 1, tokens_per_day: 5_000 };
const LIMITS = { concurrentStreams: 1, tokensPerDay: 5_000 };

/** Limits whose answer to an admission waits at a latch: the lease exists already, and nobody holds it yet. */
class GatedLimits extends InProcessLimitStore {
  readonly admitted: string[] = [];
  private latch: Latch | undefined;

  /** Makes the next admission wait. */
  holdNext(): Latch {
    return (this.latch = new Latch());
  }

  override async admit(request: AdmissionRequest): Promise<Admission> {
    const { latch } = this;
    this.latch = undefined;
    const admission = await super.admit(request);
    this.admitted.push(request.accountId);
    await latch?.opened;
    return admission;
  }
}

const clearing: (() => Promise<void>)[] = [];

afterEach(async () => {
  vi.restoreAllMocks();
  for (const clear of clearing.splice(0).reverse()) await clear();
});

async function staged(options: StageOptions = {}): Promise<Stage> {
  const stage = await setStage(1, { tiers: { free: TIER }, ...options });
  clearing.push(() => stage.clear());
  return stage;
}

const provided = <T>({ service }: Stage, type: abstract new (...args: never[]) => T): T =>
  service.app.get<T>(type, { strict: false });
const requests = (stage: Stage) =>
  [...provided(stage, ClientConnections).all()].filter(({ response }) => response !== undefined).length;

async function expectError(answer: ReceivedStream, status: number, code: string): Promise<void> {
  expect({ status: answer.status, code: (await answer.error()).code }).toEqual({ status, code });
}

describe('while a stream waits for its admission', () => {
  async function admitting() {
    const limits = new GatedLimits();
    const stage = await staged({ limitStore: limits });
    const { id, key } = await stage.service.createKey();
    const latch = limits.holdNext();
    const pending = startStream(stage.origin, { key });
    await waitFor(() => limits.admitted.length === 1, 'the admission');
    const free = async () => limits.peek(limits.admitted[0] ?? '', limitsOf(LIMITS));
    return { stage, latch, id, key, pending, free };
  }

  it('its client can leave: no request to a provider is sent, and the slot and the tokens are free again', async () => {
    const { stage, latch, key, pending, free } = await admitting();
    pending.leave();
    await waitFor(() => requests(stage) === 0, 'the service to notice');

    latch.open();

    await stage.service.leftovers.none();
    expect(stage.provider.calls).toEqual([]);
    expect(await free()).toMatchObject({ concurrentStreams: { remaining: 1 }, tokensPerDay: { remaining: 5_000 } });
    const next = await wireOf(await openStream(stage.origin, { key }));
    expect(next).toMatchObject({ text: 'Hello world', terminal: 'done' });
  });

  it('the process can begin to stop: the stream is refused, and holds nothing', async () => {
    const { stage, latch, pending, free } = await admitting();
    provided(stage, DrainState).begin();

    latch.open();

    await expectError(await pending.answer, 503, 'shutting_down');
    await stage.service.leftovers.none();
    expect(stage.provider.calls).toEqual([]);
    expect(await free()).toMatchObject({ concurrentStreams: { remaining: 1 }, tokensPerDay: { remaining: 5_000 } });
  });

  it('its key can be revoked: the stream is refused, and holds nothing', async () => {
    const { stage, latch, id, pending, free } = await admitting();
    await provided(stage, ApiKeysService).revoke(id);

    latch.open();

    await expectError(await pending.answer, 401, 'unauthenticated');
    await stage.service.leftovers.none();
    expect(await free()).toMatchObject({ concurrentStreams: { remaining: 1 } });
  });
});

describe('while the body of a request arrives', () => {
  it('its client can leave: nothing is held for it', async () => {
    const stage = await staged();
    const upload = await Upload.start(stage.origin, stage.key, { length: 100 });
    await upload.write('{');
    await waitFor(() => requests(stage) === 1, 'the request to begin');

    upload.leave();

    await stage.service.leftovers.none();
    expect(stage.provider.calls).toEqual([]);
  });
});

describe('while the bodies of two requests for the last slot arrive', () => {
  it('one gets the slot, and the other is refused and counts as nothing', async () => {
    const stage = await staged({ tiers: { free: { requests_per_minute: 9 } }, env: { MAX_STREAMS: '1' } });
    const latch = new Latch();
    stage.provider.answers(async (call) => {
      await latch.opened;
      call.answer('Hello');
    });
    const body = Buffer.from(JSON.stringify(HELLO));
    const uploads = await Promise.all([1, 2].map(() => Upload.start(stage.origin, stage.key, { length: body.length })));
    const { arriving } = provided(stage, BodiesInFlight) as unknown as { readonly arriving: KeyedCount };
    await waitFor(() => arriving.total === 2, 'both to be let in as far as their bodies');

    await Promise.all(uploads.map((upload) => upload.write(body)));

    await Promise.race(uploads.map(({ answered }) => answered));
    await stage.provider.call(1);
    latch.open();
    await Promise.all(uploads.map(({ answered }) => answered));
    expect(uploads.map(({ status }) => status).sort()).toEqual([200, 503]);
    expect(stage.provider.calls).toHaveLength(1);
    for (const upload of uploads) upload.leave();
  });
});

describe('while the beginning of a stream is written to the ledger, and its first text is there', () => {
  async function unwrittenIntent() {
    const records: UsageRecord[] = [];
    const stage = await staged({ records });
    const latch = new Latch();
    const store = provided(stage, UsageStore);
    const open = store.open.bind(store);
    let arrived = 0;
    vi.spyOn(store, 'open').mockImplementation(async (batch) => {
      arrived++;
      await latch.opened;
      await open(batch);
    });
    stage.provider.answers(beginning('Hi'));
    const attempts: AttemptTrace[] = [];
    provided(stage, AttemptFactory).tracer = {
      begin: (attempt) => {
        attempts.push(attempt);
        return { headers: {}, onEnd: () => undefined };
      },
    };
    const { id, key } = await stage.service.createKey();
    const pending = startStream(stage.origin, { key });
    await waitFor(() => arrived === 1, 'the intent to be written');
    await waitFor(() => attempts[0]?.firstTextMs !== undefined, 'the first text');
    const call = await stage.provider.call(1);
    return { stage, latch, id, call, pending, records };
  }

  it('its client can leave: the provider is let go at once, and the record says so', async () => {
    const { stage, latch, call, pending, records } = await unwrittenIntent();
    pending.leave();
    await call.over;

    latch.open();

    await stage.service.leftovers.none();
    expect(call.abortedAt).toBeDefined();
    expect(records.map(({ outcome }) => outcome)).toEqual(['client_gone']);
  });

  it('its key can be revoked: the request to the provider is aborted, and the client gets the error', async () => {
    const { stage, latch, id, call, pending, records } = await unwrittenIntent();
    await provided(stage, ApiKeysService).revoke(id);
    await call.over;

    latch.open();

    expect(await wireOf(await pending.answer)).toMatchObject({ text: 'Hi', terminal: 'key_revoked' });
    expect(records.map(({ errorCode }) => errorCode)).toEqual(['key_revoked']);
  });

  it('the process can reach its deadline: the request to the provider is aborted, and the client gets the error', async () => {
    const { stage, latch, call, pending, records } = await unwrittenIntent();
    provided(stage, DrainState).begin();
    await provided(stage, OpenStreams).drain(0, 0);
    await call.over;

    latch.open();

    expect(await wireOf(await pending.answer)).toMatchObject({ text: 'Hi', terminal: 'shutting_down' });
    expect(records.map(({ errorCode }) => errorCode)).toEqual(['shutting_down']);
  });
});
