import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomUUID } from 'node:crypto';
import { ApiKeysService } from '../../../src/accounts/api-keys/api-keys.service.js';
import type { UsageRecord } from '../../../src/usage/record/usage-record.js';
import { UsageStore } from '../../../src/usage/store/usage-store.js';
import { signedIn, type AccountSession } from '../../support/account-session.js';
import { get } from '../../support/sse-client.js';
import { setStage, type Stage } from '../../support/stage.js';

const price = { inputPerMillion: 1, outputPerMillion: 2, currency: 'USD' };

describe('the single requests of an account', () => {
  let stage: Stage;
  let ada: AccountSession;
  let bob: AccountSession;
  let keyId: string;

  beforeAll(async () => {
    stage = await setStage();
    ada = await signedIn(stage.service);
    bob = await signedIn(stage.service);
    const key = await stage.service.app
      .get(ApiKeysService, { strict: false })
      .create(ada.accountId, { name: 'laptop' });
    keyId = key.id;
    const byKey = { credential: 'api_key', keyId, keyPrefix: key.key.slice(0, 12) } as const;
    const latest = Date.now() - 60_000;
    const many = Array.from({ length: 60 }, (_, index) =>
      over({
        requestId: `r-${index}`,
        startedAt: latest - index,
        model: index === 3 ? 'acme/other' : 'acme/fast',
      }),
    );
    await stage.service.app
      .get(UsageStore, { strict: false })
      .append([
        ...many,
        over({ requestId: 'by-key', ...byKey, outcome: 'timed_out', errorCode: 'upstream_timeout' }),
        over({ requestId: 'cut', finishReason: 'length' }),
        over({ requestId: 'of-bob', accountId: bob.accountId, model: '=cmd()' }),
      ]);
  });
  afterAll(() => stage.clear());

  function over(parts: Partial<UsageRecord>): UsageRecord {
    const startedAt = parts.startedAt ?? Date.now() - 1000;
    return {
      id: randomUUID(),
      requestId: 'request',
      accountId: ada.accountId,
      credential: 'session',
      keyId: undefined,
      keyPrefix: undefined,
      model: 'acme/fast',
      startedAt,
      upstream: 'acme',
      attempts: [],
      firstTextAt: startedAt + 250,
      endedAt: startedAt + 900,
      outcome: 'completed',
      errorCode: undefined,
      finishReason: 'stop',
      inputTokens: { source: 'reported', count: 1200 },
      outputTokens: { source: 'reported', count: 34 },
      price,
      costMicros: 1268,
      ...parts,
    };
  }

  const open = async (path: string, { cookie } = ada) => {
    const answer = await get(stage.origin, path, { cookie: `${cookie.name}=${cookie.value}`, accept: 'text/html' });
    return { status: answer.status, headers: answer.headers, text: await answer.body() };
  };
  const linksIn = (text: string) => [...text.matchAll(/href="\/usage\/requests\/([^"?]+)"><time/g)].map(([, id]) => id);

  it('are listed with status, tokens, cost and times, the latest first, in pages', async () => {
    const { text } = await open('/usage/requests');
    const first = linksIn(text);
    expect(first).toHaveLength(50);
    expect(text).toContain('Timed out');
    expect(text).toContain('Cut off at the token limit');
    expect(text).toContain('$0.001268');
    expect(text).toContain('0.25 s');
    const next = /href="(\/usage\/requests\?[^"]*before[^"]*)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const second = linksIn((await open(next)).text);
    expect(second).toHaveLength(12);
    expect(new Set([...first, ...second]).size).toBe(62);
    expect(second.at(-1)).toBe('r-59');
  });

  it.each(['before=&id=r', 'before=-&id=r', 'before=never&id=r', 'before=2026-01-01', 'id=r'])(
    'begin with the latest for the invalid cursor %s',
    async (place) => {
      expect(linksIn((await open(`/usage/requests?${place}`)).text)).toHaveLength(50);
    },
  );

  it('are filtered by model and by key, on both pages and in the file', async () => {
    expect(linksIn((await open('/usage/requests?model=acme%2Fother')).text)).toEqual(['r-3']);
    expect(linksIn((await open(`/usage/requests?key=${keyId}`)).text)).toEqual(['by-key']);
    expect(linksIn((await open('/usage?days=7&key=session&model=acme%2Fother')).text)).toEqual(['r-3']);
    const usage = await open(`/usage?key=${keyId}`);
    expect(usage.text).toContain(`/usage/export.csv?days=30&amp;key=${keyId}`);
    expect(linksIn(usage.text)).toEqual(['by-key']);
    const { text } = await open(`/usage/export.csv?key=${keyId}`);
    expect(text.trim().split('\r\n')).toHaveLength(2);
  });

  it('are found by time, status, error code, upstream and id, on the page and in a file', async () => {
    const at = (time: string) => Date.parse(`2026-11-26T${time}Z`);
    const eve = await signedIn(stage.service);
    const ofEve = { accountId: eve.accountId } as const;
    const failed = { outcome: 'upstream_failed', errorCode: 'upstream_error', upstream: 'backup' } as const;
    const attempt = {
      upstream: 'backup',
      startedMs: 0,
      firstTextMs: undefined,
      durationMs: 7,
      accepted: true,
    } as const;
    const cause = { kind: 'unauthorized', status: 401 } as const;
    await stage.service.app.get(UsageStore, { strict: false }).append([
      over({ ...ofEve, requestId: 'before', startedAt: at('14:02:59.900') }),
      over({
        ...{ ...ofEve, ...failed, requestId: 'failed', startedAt: at('14:03:20.000') },
        attempts: [{ ...attempt, code: 'upstream_error', cause }],
      }),
      over({ ...ofEve, requestId: 'after', startedAt: at('14:04:00.000') }),
    ]);
    const found = async (query: string) => {
      const { text } = await open(`/usage/requests/export.csv?${query}`, eve);
      const [names, ...lines] = text.trim().split('\r\n');
      expect(names).toBe(
        'time,request_id,outcome,status,error_code,reason,upstream,model,key_id,key_prefix,input_tokens,output_tokens,cost,currency,first_text_at,ended_at',
      );
      const ids = lines.map((line) => line.split(',')[1]);
      expect(linksIn((await open(`/usage/requests?${query}`, eve)).text)).toEqual(ids);
      expect(text).not.toContain('unauthorized');
      return ids;
    };
    expect(await found('')).toEqual(['after', 'failed', 'before']);
    expect(await found('from=2026-11-26+14:03&to=2026-11-26+14:03')).toEqual(['failed']);
    expect(await found('from=2026-11-26+14:03:21')).toEqual(['after']);
    expect(await found('outcome=unsuccessful')).toEqual(['failed']);
    expect(await found('error=upstream_error')).toEqual(['failed']);
    expect(await found('upstream=backup')).toEqual(['failed']);
    expect(await found('request=before')).toEqual(['before']);
    expect(await found(`account=${ada.accountId}`)).toEqual(['after', 'failed', 'before']);
    const { text } = await open('/usage/requests?upstream=backup', eve);
    expect(text).toContain('upstream_error');
    expect(text).toContain('href="/usage/requests/export.csv?upstream=backup"');
    expect(text).not.toContain('unauthorized');
    expect((await open('/usage/requests?from=noon', eve)).text).toContain('“noon” is not a time.');
  });

  it('have a link that means the same tomorrow', async () => {
    const { status, headers } = await open('/usage/requests?from=14:03&to=14:03:30&model=&outcome=timed_out');
    expect(status).toBe(303);
    const link = new URL(headers.location ?? '', stage.origin).searchParams;
    expect([...link.keys()].sort()).toEqual(['from', 'outcome', 'to']);
    const day = /^(\d{4}-\d\d-\d\d) 14:03$/.exec(link.get('from') ?? '')?.[1];
    expect(link.get('to')).toBe(`${day ?? ''} 14:03:30`);
    const page = await open(headers.location ?? '');
    expect(page.status).toBe(200);
    expect(page.text).toContain(`value="${day ?? ''} 14:03"`);
  });

  it('lead to a receipt', async () => {
    const { text } = await open('/usage/requests/by-key');
    for (const fact of ['by-key', 'Timed out', 'upstream_timeout', 'laptop', '1,200', '$0.001268', '0.90 s']) {
      expect(text).toContain(fact);
    }
  });

  it('can be downloaded as CSV, which no spreadsheet reads as formulas', async () => {
    const { headers, text } = await open('/usage/export.csv', bob);
    expect(headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(headers['content-disposition']).toMatch(/^attachment; filename="usage-\d{4}-\d\d-\d\d-30-days\.csv"$/);
    const [names, line] = text.split('\r\n');
    expect(names).toBe(
      'day,model,key_id,key_prefix,requests,completed,errors,prompt_tokens,completion_tokens,tokens_unknown,cost_unknown,cost,currency',
    );
    expect(line).toMatch(/^\d{4}-\d\d-\d\d,'=cmd\(\),session,,1,1,0,1200,34,0,0,0\.001268,USD$/);
  });

  it('are not those of another account', async () => {
    expect((await open('/usage/requests/of-bob')).status).toBe(404);
    expect(linksIn((await open('/usage/requests', bob)).text)).toEqual(['of-bob']);
    const visitor = await get(stage.origin, '/usage/requests', { accept: 'text/html' });
    expect(visitor.headers.location).toBe('/sign-in?next=%2Fusage%2Frequests');
  });
});
