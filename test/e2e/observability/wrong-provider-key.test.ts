import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operatorSignedIn, signedIn } from '../../support/account-session.js';
import { browserOf } from '../../support/as-browser.js';
import { readMetrics } from '../../support/metrics.js';
import { get, stream } from '../../support/sse-client.js';
import { setStage, type Stage } from '../../support/stage.js';
import { waitFor } from '../../support/wait-for.js';

const CAUSE = 'unauthorized, HTTP 401, invalid_request_error, invalid_api_key';

/** The text of a page, without markup. */
const textOf = (html: string) => html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');

describe('a wrong key of a provider', () => {
  let stage: Stage;
  let requestId: string;

  beforeAll(async () => {
    stage = await setStage(1, { env: { METRICS_PORT: '0' } });
    stage.provider.next((call) => {
      const error = {
        message: 'Incorrect API key provided: sk-***.',
        type: 'invalid_request_error',
        code: 'invalid_api_key',
      };
      call.refuse(401, {}, JSON.stringify({ error }));
    });
    const answer = await stream(stage.origin, { key: stage.key });
    expect(answer.status).toBe(502);
    requestId = answer.headers['x-request-id'] as string;
  });
  afterAll(() => stage.clear());

  it('is on the status page after one request, before the circuit opens', async () => {
    const client = browserOf(stage.origin, await operatorSignedIn(stage.service));
    const html = await (await client.get('/operator/status')).body();
    expect(html).toContain('The last attempt failed');
    const page = textOf(html);
    expect(page).toMatch(new RegExp(`acme all Failing last at [\\d:]{8} UTC : upstream_error \\(${CAUSE}\\)`));
    expect(page).toContain('upstream_error unauthorized 1');
  });

  it('is in the metric, by its kind', async () => {
    const series = readMetrics(await (await get(stage.service.metricsOrigin(), '/metrics')).body());
    const errors = series.filter(({ name }) => name === 'chat_upstream_errors_total');
    expect(errors.filter(({ value }) => value > 0)).toEqual([
      expect.objectContaining({ labels: { upstream: 'acme', code: 'upstream_error', kind: 'unauthorized' }, value: 1 }),
    ]);
  });

  it('is on the receipt that operators read, and not on the receipt of the account', async () => {
    const path = `/api/v1/usage/streams/${requestId}`;
    const receipt = await waitFor(async () => {
      const answer = await get(stage.origin, path, { authorization: `Bearer ${stage.key}` });
      return answer.status === 200 ? (JSON.parse(await answer.body()) as { attempts: object[] }) : undefined;
    }, 'the receipt');
    expect(receipt.attempts).toEqual([
      { upstream: 'acme', code: 'upstream_error', duration_ms: expect.any(Number) as number },
    ]);
    const [{ id }] = await stage.service.app
      .get(DataSource)
      .query<[{ id: string }]>('SELECT id FROM usage_records WHERE request_id = ?', [requestId]);
    const operator = browserOf(stage.origin, await operatorSignedIn(stage.service));
    const page = await (await operator.get(`/operator/requests/streams/${id}`)).body();
    expect(textOf(page)).toContain(`acme : upstream_error (${CAUSE})`);
    const person = browserOf(stage.origin, await signedIn(stage.service));
    expect((await person.get(`/operator/requests/streams/${id}`)).status).not.toBe(200);
  });

  it('is over on the page with the next answer', async () => {
    await stream(stage.origin, { key: stage.key });
    const client = browserOf(stage.origin, await operatorSignedIn(stage.service));
    expect(await (await client.get('/operator/status')).body()).not.toContain('The last attempt failed');
  });
});
