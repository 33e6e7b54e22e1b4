import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { get, stream } from '../../support/sse-client.js';
import { setStage, type Stage } from '../../support/stage.js';
import { waitFor } from '../../support/wait-for.js';
import { wireOf } from '../../support/wire.js';

describe('a connection to a provider', () => {
  let stage: Stage;

  beforeEach(async () => {
    stage = await setStage();
  });
  afterEach(() => stage.clear());

  const ask = () => stream(stage.origin, { key: stage.key });

  it('serves the next request', async () => {
    await ask();
    await ask();
    expect(stage.provider.calls.map(({ connection }) => connection)).toEqual([1, 1]);
  });

  it('that the provider closes when the next request comes is replaced, unseen by the client', async () => {
    await ask();
    stage.provider.next((call) => call.cut('reset'));
    expect(await wireOf(await ask())).toMatchObject({ text: 'Hello world', terminal: 'done' });
    expect(stage.provider.calls.map(({ connection }) => connection)).toEqual([1, 1, 2]);
  });

  it('that is replaced is an attempt of its own in the receipt', async () => {
    await ask();
    stage.provider.next((call) => call.cut('reset'));
    const answer = await ask();
    await answer.over;
    const path = `/api/v1/usage/streams/${String(answer.headers['x-request-id'])}`;
    const receipt = await waitFor(async () => {
      const { status, raw } = await get(stage.origin, path, { Authorization: `Bearer ${stage.key}` });
      return status === 200 ? (JSON.parse(raw) as { attempts: { upstream: string; code?: string }[] }) : undefined;
    }, 'the receipt');
    const [lost, second] = receipt.attempts;
    expect(receipt.attempts).toHaveLength(2);
    expect([lost?.upstream, lost?.code]).toEqual([second?.upstream, 'upstream_error']);
    expect(second?.code ?? undefined).toBeUndefined();
  });

  it('is replaced once: a provider that goes on closing them has failed', async () => {
    await ask();
    stage.provider.next(
      (call) => call.cut('reset'),
      (call) => call.cut('reset'),
    );
    expect((await ask()).status).toBe(502);
    expect(stage.provider.calls).toHaveLength(3);
  });

  it('that is new is not replaced: the provider may have begun to work', async () => {
    stage.provider.next((call) => call.cut('reset'));
    expect((await ask()).status).toBe(502);
    expect(stage.provider.calls).toHaveLength(1);
  });

  it('is not kept when an answer broke off on it', async () => {
    stage.provider.next((call) => call.head(200).text('Hi').cut('fin'));
    await ask();
    await ask();
    expect(stage.provider.calls.map(({ connection }) => connection)).toEqual([1, 2]);
  });
});
