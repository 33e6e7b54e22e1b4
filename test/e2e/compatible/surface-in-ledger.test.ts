import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MODEL } from '../../support/catalog.js';
import { scrape, type Series } from '../../support/metrics.js';
import { get, stream } from '../../support/sse-client.js';
import { setStage, type Stage } from '../../support/stage.js';
import { atMostEvery, waitFor } from '../../support/wait-for.js';

const messages = [{ role: 'user', content: 'Hello!' }];
const BODIES = {
  'chat-completions': ['chat/completions', { model: MODEL, messages }],
  responses: ['responses', { model: MODEL, input: 'Hello!', messages: undefined }],
  messages: ['messages', { model: MODEL, max_tokens: 100, messages }],
} as const;

describe('the ledger', () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await setStage(1, { env: { METRICS_PORT: '0' } });
  });
  afterAll(() => stage.clear());

  /** The surface in the receipt of a request. A request just after the end of its stream may find no receipt. */
  const surfaceOf = async (requestId: unknown): Promise<unknown> => {
    const path = `/api/v1/usage/streams/${String(requestId)}`;
    const receipt = await waitFor(
      atMostEvery(100, async () => {
        const { status, raw } = await get(stage.origin, path, { authorization: `Bearer ${stage.key}` });
        return status === 200 ? (JSON.parse(raw) as { readonly surface: unknown }) : undefined;
      }),
      'the receipt',
    );
    return receipt.surface;
  };
  const countOf = (series: readonly Series[], surface: string): number | undefined =>
    series.find(({ name, labels }) => name === 'chat_surface_streams_total' && labels['surface'] === surface)?.value;

  it.each(Object.entries(BODIES))(
    'and the metrics know the surface %s, also of a durable stream',
    async (surface, [path, body]) => {
      const ask = (headers = {}) =>
        stream(stage.origin, { key: stage.key, path: `/api/v1/${path}`, body: { ...body, stream: true }, headers });
      const answer = await ask();
      expect(answer.status).toBe(200);
      const durable = await ask({ 'idempotency-key': randomUUID() });
      expect(await surfaceOf(answer.headers['x-request-id'])).toBe(surface);
      expect(await surfaceOf(durable.headers['x-request-id'])).toBe(surface);
      expect(countOf(await scrape(stage.service), surface)).toBe(2);
    },
  );

  it('has no surface for POST /chat/stream', async () => {
    const answer = await stream(stage.origin, { key: stage.key });
    expect(await surfaceOf(answer.headers['x-request-id'])).toBeNull();
  });
});
