import { Agent } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { ApiKeysService } from '../../../src/accounts/api-keys/api-keys.service.js';
import { RequestWatch, type FinishedRequest } from '../../../src/platform/start/request-watch.js';
import { beginning } from '../../support/scripts.js';
import { openStream, startStream, stream } from '../../support/sse-client.js';
import { setStage, type Stage } from '../../support/stage.js';
import { waitFor } from '../../support/wait-for.js';

describe('what logs, metrics and traces record of a finished request', () => {
  let stage: Stage;
  let finished: FinishedRequest[];
  afterEach(() => stage.clear());

  const watched = async (): Promise<void> => {
    stage = await setStage();
    finished = [];
    stage.service.app.get(RequestWatch, { strict: false }).observe({
      finished: (request) => finished.push(request),
    });
  };
  const heard = (count: number) =>
    waitFor(() => (finished.length >= count ? finished[count - 1] : undefined), `request ${count} to be finished`);

  it('is the error that the client received, also where the stream has ended for another reason', async () => {
    await watched();
    const { id, key } = await stage.service.createKey();
    stage.provider.next((call) => void call.head());
    const pending = startStream(stage.origin, { key });
    await stage.provider.call(1);
    await stage.service.app.get(ApiKeysService, { strict: false }).revoke(id);
    const answer = await pending.answer;
    expect([answer.status, (await answer.error()).code]).toEqual([401, 'unauthenticated']);
    expect(await heard(1)).toMatchObject({
      status: 401,
      isComplete: true,
      errorCode: 'unauthenticated',
      record: { outcome: 'revoked', errorCode: 'key_revoked' },
    });
  });

  it('has no status where the client left before the answer, and is not answered where it left during it', async () => {
    await watched();
    stage.provider.next(() => undefined);
    const early = startStream(stage.origin, { key: stage.key });
    await stage.provider.call(1);
    early.leave();
    expect(await heard(1)).toMatchObject({ status: undefined, isComplete: false, record: { outcome: 'client_gone' } });

    stage.provider.next(beginning('Hello'));
    const late = await openStream(stage.origin, { key: stage.key });
    await late.block(1);
    late.leave();
    expect(await heard(2)).toMatchObject({ status: 200, isComplete: false, record: { outcome: 'client_gone' } });
  });

  it('has the record of a durable stream once, in the request that has begun it', async () => {
    await watched();
    const headers = { 'idempotency-key': 'key-1' };
    for (let count = 0; count < 2; count++) await stream(stage.origin, { key: stage.key, headers });
    await heard(2);
    expect(finished.map(({ durable, record }) => [durable, record?.outcome])).toEqual([
      ['new', 'completed'],
      ['repeated', undefined],
    ]);
  });

  it('has the bytes of its own answer, also on a connection that served another one', async () => {
    await watched();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let count = 0; count < 2; count++) await stream(stage.origin, { key: stage.key, agent });
    await heard(2);
    agent.destroy();
    const [first, second] = finished.map(({ bytes }) => bytes);
    expect(first).toBeGreaterThan(0);
    expect(second).toBe(first);
  });
});
