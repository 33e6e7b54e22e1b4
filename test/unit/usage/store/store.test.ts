import { createHash } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { describe, expect, it, vi } from 'vitest';
import { EmbeddedPresence, type DatabasePresence } from '../../../../src/database/database-presence.js';
import { readStreams, writeStreams } from '../../../../src/usage/store/begun-streams.js';
import { DatabaseUsageStore } from '../../../../src/usage/store/database-usage-store.js';
import { ledgerText } from '../../../../src/usage/store/ledger-text.js';
import { RECORD_COLUMNS, storedRow, type StoredValue } from '../../../../src/usage/store/record-columns.js';
import { readAttempts, storedAttempts } from '../../../../src/usage/store/stored-attempts.js';
import { UnstorableData } from '../../../../src/usage/store/unstorable-data.js';
import type { BegunStream, UsageRecord } from '../../../../src/usage/record/usage-record.js';
import { recoverableJson } from '../../../../src/usage/ledger/recoverable-json.js';
import { ATTEMPT, begun, over } from '../../../contract/usage/records.js';
import { Latch, isOver } from '../../../support/latch.js';

describe('a text of the ledger', () => {
  it.each(['', 'acme/fast', 'x'.repeat(255), '\u{1f600}'])('is kept as it is: %j', (text) => {
    expect(ledgerText(text)).toBe(text);
  });

  it('has a mark for each character that a database refuses', () => {
    expect(ledgerText('a\0\u0085b\ud800\udc00\ud800c')).toBe('a\ufffd\ufffdb\ud800\udc00\ufffdc');
  });

  it('that is too long is cut, and ends with a hash of all of it', () => {
    const text = `\0${'x'.repeat(255)}`;
    const hash = createHash('sha256').update(text).digest('base64url');
    expect(ledgerText(text)).toBe(`\ufffd${'x'.repeat(199)}~${hash}`);
  });

  it.each([7, null, undefined, {}])('cannot be %j', (value) => {
    expect(() => ledgerText(value as string)).toThrow(UnstorableData);
  });
});

describe('the row of a record', () => {
  const rowOf = (parts: object = {}): Readonly<Record<string, StoredValue>> =>
    Object.fromEntries(storedRow({ ...over(), ...parts }).map((value, at) => [RECORD_COLUMNS[at] ?? '', value]));

  it('has each member in its column', () => {
    const record = over({ id: 'id', errorCode: 'upstream_error', attempts: [ATTEMPT] });
    expect(rowOf(record)).toEqual({
      id: 'id',
      request_id: 'request',
      account_id: 'ada',
      credential: 'api_key',
      key_id: 'laptop',
      key_prefix: 'csk_12345678',
      model: 'acme/fast',
      upstream: 'acme',
      attempts: 1,
      attempt_details: '[{"upstream":"acme","duration_ms":900}]',
      detached: 0,
      started_at: '2026-11-21T00:00:01.000Z',
      first_text_at: '2026-11-21T00:00:01.100Z',
      ended_at: '2026-11-21T00:00:02.000Z',
      outcome: 'completed',
      error_code: 'upstream_error',
      finish_reason: 'stop',
      prompt_tokens: 10,
      cached_prompt_tokens: 6,
      cache_write_prompt_tokens: 3,
      prompt_tokens_source: 'reported',
      completion_tokens: 20,
      reasoning_completion_tokens: null,
      tool_calls: null,
      completion_tokens_source: 'estimated',
      input_price: 1,
      output_price: 2,
      cached_input_price: 0.1,
      cache_write_input_price: 1.25,
      reasoning_output_price: null,
      cost_micros: 50,
      currency: 'USD',
    });
  });

  it('is empty where a member is unknown', () => {
    const row = rowOf({ keyId: undefined, upstream: null, price: undefined, costMicros: undefined, endedAt: null });
    const empty = { key_id: null, upstream: null, input_price: null, output_price: null, currency: null };
    expect(row).toMatchObject({ ...empty, cost_micros: null, ended_at: null });
  });

  it('has zeros where a member is zero', () => {
    const zero = { source: 'reported', count: 0 };
    const row = rowOf({ inputTokens: zero, outputTokens: zero, costMicros: 0, startedAt: 0 });
    expect(row).toMatchObject({ prompt_tokens: 0, completion_tokens: 0, cost_micros: 0 });
    expect(row['started_at']).toBe('1970-01-01T00:00:00.000Z');
  });

  it.each([
    [Date.parse('0000-01-01T00:00:00.000Z'), '0000-01-01T00:00:00.000Z'],
    [Date.parse('9999-12-31T23:59:59.999Z'), '9999-12-31T23:59:59.999Z'],
  ])('accepts years of four digits up to the last moment: %i', (startedAt, text) => {
    expect(rowOf({ startedAt })['started_at']).toBe(text);
  });

  it.each([
    [{ startedAt: Date.parse('0000-01-01T00:00:00.000Z') - 1 }, 'A time of the record is not a valid date'],
    [{ startedAt: Date.parse('9999-12-31T23:59:59.999Z') + 1 }, 'A time of the record is not a valid date'],
    [{ startedAt: NaN }, 'A time of the record is not a valid date'],
    [{ startedAt: '5' }, 'A time of the record is not a valid date'],
    [{ inputTokens: { source: 'reported', count: -1 } }, 'A count of the record is not'],
    [{ inputTokens: { source: 'reported', count: 2 ** 53 } }, 'A count of the record is not'],
    [{ costMicros: NaN }, 'A price or cost of the record'],
    [{ price: { inputPerMillion: 1, outputPerMillion: Infinity, currency: 'USD' } }, 'A price or cost of the record'],
    [{ inputTokens: undefined }, 'A member of the record is missing.'],
  ])('cannot be made of %j', (parts, message) => {
    expect(() => rowOf(parts)).toThrow(UnstorableData);
    expect(() => rowOf(parts)).toThrow(message);
  });
});

describe('the attempts of a record', () => {
  it('are stored with the code of a failure and the time that they took, where these are known', () => {
    const stored = storedAttempts([
      { ...ATTEMPT, upstream: 'acme\0', code: 'upstream_error', durationMs: 1.6 },
      { ...ATTEMPT, upstream: 'backup', code: undefined, durationMs: undefined },
    ]);
    expect(JSON.parse(stored)).toEqual([
      { upstream: 'acme\ufffd', code: 'upstream_error', duration_ms: 2 },
      { upstream: 'backup', duration_ms: null },
    ]);
    expect(readAttempts(stored)).toEqual(JSON.parse(stored));
    expect(readAttempts(null)).toEqual([]);
  });

  it('are a hundred at most', () => {
    expect(readAttempts(storedAttempts(Array.from({ length: 101 }, () => ATTEMPT)))).toHaveLength(100);
  });
});

describe('a record without a member', () => {
  it('says what went wrong', () => {
    expect(() => storedRow({ ...over(), attempts: undefined } as unknown as UsageRecord)).toThrow(
      expect.objectContaining({ name: 'UnstorableData', cause: expect.any(TypeError) as Error }) as Error,
    );
  });
});

describe('the intents of streams', () => {
  it('are read as they were written', () => {
    const streams = [begun(), begun()];
    expect(readStreams(writeStreams(streams))).toEqual({ streams });
    expect(readStreams('[]')).toEqual({ streams: [] });
  });

  it.each(['', '{', '{}', 'null', '7', '[7]', '[null]', '[{},null]', '["a"]'])('are unreadable in %j', (text) => {
    expect(readStreams(text)).toEqual({ streams: [], unreadable: text });
  });

  it('cannot hold values without JSON', () => {
    const stream = { ...begun(), accountId: 7n } as unknown as BegunStream;
    expect(() => writeStreams([stream])).toThrow(
      expect.objectContaining({ name: 'UnstorableData', cause: expect.any(TypeError) as Error }) as Error,
    );
  });
});

describe('a record as a text that can be recovered', () => {
  it('is its JSON, with the values that JSON does not support as texts', () => {
    expect(recoverableJson({ a: 7n, b: NaN, c: -Infinity, d: 1.5, e: null, f: [true, 'x'], g: undefined })).toBe(
      '{"a":"7","b":"NaN","c":"-Infinity","d":1.5,"e":null,"f":[true,"x"]}',
    );
  });

  it('has texts of up to 1,000 characters', () => {
    const [whole, long] = ['x'.repeat(1000), 'x'.repeat(1001)];
    expect(recoverableJson({ whole, long })).toBe(`{"whole":"${whole}","long":"${whole}…"}`);
  });

  it('has up to 100,000 characters', () => {
    const many = { texts: Array.from({ length: 200 }, () => 'x'.repeat(1000)) };
    expect(recoverableJson(many)).toHaveLength(100_000);
    const circular: Record<string, unknown> = Object.fromEntries(many.texts.entries());
    circular['self'] = circular;
    expect(recoverableJson(circular)).toHaveLength(100_000);
  });

  it('is readable for a person where JSON is impossible', () => {
    const circular: Record<string, unknown> = { text: 'x'.repeat(1001) };
    circular['self'] = circular;
    const text = recoverableJson(circular);
    expect(text).toContain('[Circular *1]');
    expect(text).toContain(`'${'x'.repeat(1000)}'... 1 more character`);
  });
});

describe('the store in the database', () => {
  const raceLost = () => Object.assign(new Error('deadlock'), { code: '40P01' });
  function storeOn(query: (statement: string, values?: unknown[]) => Promise<unknown>, type = 'postgres') {
    const database = { options: { type }, query };
    return new DatabaseUsageStore(database as unknown as DataSource, new EmbeddedPresence());
  }

  it.each([
    [1, 2, true],
    [4, 5, true],
    [5, 5, false],
    [9, 5, false],
  ])('after %i lost races has tried %i times', async (races, tries, isStored) => {
    let calls = 0;
    const store = storeOn(() => (++calls > races ? Promise.resolve([]) : Promise.reject(raceLost())));
    const failure = await store.append([over()]).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect({ calls, isStored: failure === undefined }).toEqual({ calls: tries, isStored });
    expect(failure).not.toBeInstanceOf(UnstorableData);
  });

  const id = 'batch';
  it.each([
    ['append', (store: DatabaseUsageStore) => store.append([over()])],
    ['open', (store: DatabaseUsageStore) => store.open({ id, streams: [begun()] })],
    ['close', (store: DatabaseUsageStore) => store.close([id])],
    [
      'deadLetter',
      (store: DatabaseUsageStore) => store.deadLetter({ id, requestId: undefined, reason: '', record: '{}' }),
    ],
    ['beat', (store: DatabaseUsageStore) => store.beat()],
    ['leave', (store: DatabaseUsageStore) => store.leave()],
  ])('is done with "%s" only when the database has answered', async (_, act) => {
    const latch = new Latch();
    const acting = act(storeOn(() => latch.opened.then(() => [])));
    expect(await isOver(acting)).toBe(false);
    latch.open();
    await acting;
  });

  it.each([
    ['postgres', true],
    ['better-sqlite3', false],
  ])('on %s skips what another replica deletes: %s', async (type, skips) => {
    const query = vi.fn(() => Promise.resolve([]));
    await storeOn(query, type).deleteBefore(0, 10);
    expect(query).toHaveBeenCalledWith(
      skips ? expect.stringContaining('LIMIT 10 FOR UPDATE SKIP LOCKED)') : expect.stringContaining('LIMIT 10)'),
      expect.any(Array),
    );
  });

  it.each([
    [undefined, false],
    [false, false],
    [true, true],
  ])('checks for all lost connections when that is urgent: %s', async (isUrgent, looksAtAll) => {
    const presence = { isUnavailable: false, lock: { key: 1, heldSince: -Infinity }, whenLocked: () => undefined };
    const query = vi.fn<(statement: string) => Promise<[]>>(() => Promise.resolve([]));
    const database = { options: { type: 'postgres' }, query } as unknown as DataSource;
    await new DatabaseUsageStore(database, presence as unknown as DatabasePresence).abandoned(isUrgent);
    const looks = query.mock.calls.filter(([statement]) => statement.includes('lock_key IS NOT NULL'));
    expect(looks.map(([statement]) => !statement.includes('seen_at <'))).toEqual([looksAtAll]);
  });

  it('tries a statement once that fails because of an outage, and passes the error on', async () => {
    const away = new Error('The connection was cut.');
    const query = vi.fn(() => Promise.reject(away));
    await expect(storeOn(query).append([over()])).rejects.toBe(away);
    expect(query).toHaveBeenCalledTimes(1);
  });

  it('says briefly why the database refuses a record', async () => {
    const cause = Object.assign(new Error('x'.repeat(300)), { code: '22003' });
    const refused = storeOn(() => Promise.reject(cause)).append([over()]);
    await expect(refused).rejects.toMatchObject({
      name: 'UnstorableData',
      message: `22003 ${'x'.repeat(194)}`,
      cause,
    });
  });

  it('writes records in the order of their ids, so that two replicas cannot wait for each other', async () => {
    const written: unknown[][] = [];
    const store = storeOn((_, values = []) => Promise.resolve(void written.push(values)));
    await store.append(['c', 'a', 'd', 'b'].map((id) => over({ id })));
    const ids = written[0]?.filter((_, at) => at % RECORD_COLUMNS.length === 0);
    expect(ids).toEqual(['a', 'b', 'c', 'd']);
  });

  it.each([
    [undefined, null],
    ['r\0', 'r\ufffd'],
  ])('writes a dead letter with the request id %j, and the record as it is', async (requestId, stored) => {
    const written: unknown[][] = [];
    const store = storeOn((statement, values = []) => Promise.resolve(void written.push([statement, ...values])));
    await store.deadLetter({ id: 'a\0', requestId, reason: 'b\0', record: '{"c":1}' });
    expect(written).toEqual([
      [
        'INSERT INTO usage_set_aside (id, request_id, set_aside_at, reason, record) VALUES ($1,$2,$3,$4,$5) ON CONFLICT (id) DO NOTHING',
        'a\ufffd',
        stored,
        expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        'b\ufffd',
        '{"c":1}',
      ],
    ]);
  });

  it('reports that a dead letter could not be written', async () => {
    const store = storeOn(() => Promise.reject(new Error('away')));
    await expect(store.deadLetter({ id: 'a', requestId: undefined, reason: 'b', record: '{}' })).rejects.toThrow(
      'away',
    );
  });

  it('removes its own row when it leaves, and says that it could not', async () => {
    const statements: unknown[][] = [];
    const store = storeOn((statement, values = []) => Promise.resolve(void statements.push([statement, ...values])));
    await store.beat();
    await store.leave();
    expect(statements[1]).toEqual(['DELETE FROM usage_writers WHERE id IN ($1)', statements[0]?.[1]]);
    await expect(storeOn(() => Promise.reject(new Error('away'))).leave()).rejects.toThrow('away');
  });

  it('keeps the writers that live: others of this host by their process, itself by its id', async () => {
    const { hostname } = await import('node:os');
    const statements: unknown[][] = [];
    const dead = { id: 'dead', pid: 4_194_303 };
    let own = '';
    const store = storeOn((statement, values = []) => {
      statements.push([statement, ...values]);
      if (statement.startsWith('INSERT INTO usage_writers')) own = String(values[0]);
      const rows = [dead, { id: 'namesake', pid: process.pid }, { id: 'alive', pid: 1 }, { id: own, pid: process.pid }];
      return Promise.resolve(statement.startsWith('SELECT id, pid') ? rows : []);
    });
    await store.beat();
    await store.abandoned();
    expect(statements[2]).toEqual(['SELECT id, pid FROM usage_writers WHERE host = $1', hostname()]);
    expect(statements[3]).toEqual(['DELETE FROM usage_writers WHERE id IN ($1,$2)', 'dead', 'namesake']);
    expect(statements[1]?.[0]).toMatch(/^DELETE FROM usage_writers WHERE seen_at < .* - 60$/);
    expect(statements).toHaveLength(5);
  });

  it('removes no process where every process lives', async () => {
    const statements: string[] = [];
    const store = storeOn((statement) => {
      statements.push(statement);
      return Promise.resolve([]);
    });
    await store.abandoned();
    expect(statements.map((statement) => statement.slice(0, 6))).toEqual(['DELETE', 'SELECT', 'SELECT']);
  });

  it('counts a process that belongs to another user as a living one', async () => {
    const kill = vi.spyOn(process, 'kill');
    const refused: string[] = [];
    for (const code of ['EPERM', 'ESRCH']) {
      kill.mockImplementationOnce(() => {
        throw Object.assign(new Error(code), { code });
      });
      const store = storeOn((statement, values = []) => {
        if (statement.includes('WHERE id IN')) refused.push(`${code} ${values.join()}`);
        return Promise.resolve(statement.startsWith('SELECT id, pid') ? [{ id: 'other', pid: 77 }] : []);
      });
      await store.abandoned();
    }
    expect(refused).toEqual(['ESRCH other']);
    expect(kill.mock.calls).toEqual([
      [77, 0],
      [77, 0],
    ]);
    kill.mockRestore();
  });
});
