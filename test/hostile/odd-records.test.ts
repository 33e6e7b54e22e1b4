import type { INestApplicationContext } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AccountsService } from '../../src/accounts/accounts/accounts.service.js';
import { ApiKeysService } from '../../src/accounts/api-keys/api-keys.service.js';
import { openAccountsApp } from '../contract/accounts/accounts-app.js';
import { testEngines, type TestDatabase } from '../support/database.js';
import { valueOf } from '../support/metrics.js';
import type { SpawnedProcess } from '../support/process.js';
import type { Script } from '../../src/testing/provider/scripted-provider.js';
import { get, openStream, stream } from '../support/sse-client.js';
import { waitFor } from '../support/wait-for.js';
import { Target } from './support/target.js';
import { PASSWORD } from '../support/usual-password.js';

/** As a provider may write them in its JSON, in place of a count of tokens. */
const NO_TRUE_COUNTS = ['3000000000', '2147483648', '9223372036854775808', '1e300', '1e400', '-5', '-0.5', '1.5'];
const NO_NUMBERS = ['"12"', 'null', '{}', '[]', 'true', '"NaN"', '"\\u0000"'];
const COUNTS = [...NO_TRUE_COUNTS, ...NO_NUMBERS];
const ODD_REASONS = ['\\u0000', '\\ud800', `${'x'.repeat(63)}\\ud83d\\ude00`, 'y'.repeat(20_000), "'; --", 'a\\nb'];
const PRICE = { input_per_million: 1_000_000, output_per_million: 1_000_000 };
const TIERS = { free: { tokens_per_day: 1_000_000, max_tokens: 10 } };
const STARTED_AT = Date.parse('2026-11-21T12:00:00Z');

const answering =
  (usage: string, reason = 'stop'): Script =>
  (call) => {
    call
      .head()
      .text('one two three four five six seven')
      .write(`data: {"choices":[{"index":0,"delta":{},"finish_reason":"${reason}"}]}\n\n`)
      .write(`data: {"choices":[],"usage":${usage}}\n\n`)
      .endMarker()
      .end();
  };
const counting = (prompt: string, completion = prompt) =>
  answering(`{"prompt_tokens":${prompt},"completion_tokens":${completion}}`);
const PLAIN = counting('7', '9');
const TALKING: Script = (call) => {
  call.head().text('On and on');
};

interface Caller {
  readonly accountId: string;
  readonly key: string;
}

interface Row {
  readonly request_id: string;
  readonly outcome: string;
  readonly finish_reason: string;
  readonly completion_tokens_source: string;
}

interface Figures {
  readonly requests: number;
  readonly completion_tokens: number;
  readonly cost: number;
}

describe.each(await testEngines())('the ledger on $name', ({ create }) => {
  let database: TestDatabase;
  let target: Target;
  /** The service that runs now. */
  let service: SpawnedProcess;
  let origin: string;
  let app: INestApplicationContext;
  let source: DataSource;

  beforeAll(async () => {
    database = await create();
    const { config } = database;
    const env = { DATABASE_URL: config.type === 'postgres' ? config.url : `sqlite:${config.path}` };
    target = await Target.start({ env, price: PRICE, tiers: TIERS });
    ({ process: service, origin } = target);
    app = await openAccountsApp(config);
    source = app.get(DataSource);
  });
  afterAll(async () => {
    await app.close();
    await target.stop();
    await database.drop();
  });

  async function newCaller(): Promise<Caller> {
    const account = await app.get(AccountsService).create({ email: `${randomUUID()}@example.com`, password: PASSWORD });
    const { key } = await app.get(ApiKeysService).create(account.id, { name: 'test' });
    return { accountId: account.id, key };
  }

  const mark = (number: number) => (source.options.type === 'postgres' ? `$${number}` : '?');
  const recordsOf = ({ accountId }: Pick<Caller, 'accountId'>): Promise<Row[]> =>
    source.query(`SELECT * FROM usage_records WHERE account_id = ${mark(1)} ORDER BY started_at, id`, [accountId]);
  const kept = (caller: Pick<Caller, 'accountId'>, count: number): Promise<Row[]> =>
    waitFor(async () => {
      const rows = await recordsOf(caller);
      return rows.length >= count ? rows : undefined;
    }, `${count} records`);

  async function ask({ key }: Caller, script: Script, requestId: string = randomUUID()) {
    target.provider.next(script);
    return stream(origin, { key, headers: { 'x-request-id': requestId } });
  }

  async function figuresOf({ key }: Caller): Promise<Figures | undefined> {
    const { raw } = await get(origin, '/api/v1/usage', { authorization: `Bearer ${key}` });
    return (JSON.parse(raw) as { usage: Figures[] }).usage[0];
  }

  /** Kills the service without warning, and starts another one. */
  async function restart(): Promise<void> {
    service.signal('SIGKILL');
    await service.exited;
    service = target.installation.start();
    origin = await service.origin();
  }

  /** Makes the database refuse rows that do not meet the condition, during `work`. */
  async function refusing(table: string, column: string, condition: string, work: () => Promise<void>): Promise<void> {
    const isPostgres = source.options.type === 'postgres';
    await source.query(
      isPostgres
        ? `ALTER TABLE ${table} ADD CONSTRAINT refusal CHECK (${column} ${condition}) NOT VALID`
        : `CREATE TRIGGER refusal BEFORE INSERT ON ${table} WHEN NOT (NEW.${column} ${condition})
            BEGIN SELECT RAISE(ABORT, 'refused by the test'); END`,
    );
    try {
      await work();
    } finally {
      await source.query(isPostgres ? `ALTER TABLE ${table} DROP CONSTRAINT refusal` : 'DROP TRIGGER refusal');
    }
  }

  const deadLetterLines = () => service.stdout.split('\n').filter((line) => line.includes('became a dead letter'));

  it('keeps every stream, whatever a provider says that it has counted', async () => {
    const [odd, plain] = [await newCaller(), await newCaller()];
    for (const count of COUNTS) {
      const answer = await ask(odd, counting(count));
      expect(answer.blocks.at(-1)?.text).toBe('data: {"content":"","done":true}');
      expect(answer.headers['x-ratelimit-remaining-tokens']).toMatch(/^\d+$/);
      await ask(plain, PLAIN);
    }
    const rows = await kept(odd, COUNTS.length);
    await kept(plain, COUNTS.length);

    expect(await figuresOf(plain)).toMatchObject({
      requests: COUNTS.length,
      completed: COUNTS.length,
      prompt_tokens: 7 * COUNTS.length,
      completion_tokens: 9 * COUNTS.length,
      cost: 16 * COUNTS.length,
    });
    // What cannot be true is neither kept nor charged: an estimate of the texts stands in its place, some ten tokens each.
    const estimated = await figuresOf(odd);
    expect(estimated?.requests).toBe(COUNTS.length);
    expect(estimated?.completion_tokens).toBeGreaterThan(5 * COUNTS.length);
    expect(estimated?.completion_tokens).toBeLessThan(20 * COUNTS.length);
    expect(estimated?.cost).toBeLessThan(50 * COUNTS.length);
    const from = (source: string) => rows.filter((row) => row.completion_tokens_source === source).length;
    expect([from('implausible'), from('estimated')]).toEqual([NO_TRUE_COUNTS.length, NO_NUMBERS.length]);
    await waitFor(() => service.stdout.includes('"inputTokens":"3000000000"'), 'the line in the log');
    const { headers } = await ask(odd, PLAIN);
    expect(Number(headers['x-ratelimit-remaining-tokens'])).toBeGreaterThan(999_000);
  });

  it('believes a provider that counts many times the size of the model', async () => {
    const caller = await newCaller();
    await ask(caller, counting('1600000', '1'));
    await kept(caller, 1);
    expect(await figuresOf(caller)).toMatchObject({ prompt_tokens: 1_600_000, completion_tokens: 1 });
  });

  it('keeps every stream, however a provider calls its end', async () => {
    const caller = await newCaller();
    for (const reason of ODD_REASONS) await ask(caller, answering('null', reason));
    for (const { finish_reason: reason } of await kept(caller, ODD_REASONS.length)) {
      expect(reason.length).toBeLessThanOrEqual(64);
      expect(reason).not.toMatch(/[\p{Cc}\p{Cs}]/u);
    }
  });

  it('writes a record that its database refuses as a dead letter, and stores the other records', async () => {
    const [odd, plain] = [await newCaller(), await newCaller()];
    const requestId = `odd-${randomUUID()}`;
    await refusing('usage_records', 'finish_reason', `<> 'length'`, async () => {
      target.provider.answers(PLAIN);
      const before = Array.from({ length: 20 }, () => stream(origin, { key: plain.key }));
      await Promise.all(before);
      await ask(odd, answering('null', 'length'), requestId);
      await Promise.all(Array.from({ length: 20 }, () => stream(origin, { key: plain.key })));
      await kept(plain, 40);
      await waitFor(() => deadLetterLines().length > 0, 'the line in the log');
    });

    expect((await figuresOf(plain))?.requests).toBe(40);
    const deadLetters = await source.query<{ request_id: string; record: string }[]>(
      'SELECT * FROM usage_dead_letters',
    );
    expect(deadLetters.map(({ request_id: id }) => id)).toEqual([requestId]);
    expect(JSON.parse(deadLetters[0]?.record ?? '')).toMatchObject({
      requestId,
      finishReason: 'length',
      model: 'acme/fast',
    });
    expect(deadLetterLines()).toEqual([expect.stringContaining(requestId)]);
    const metrics = await target.metrics();
    expect(valueOf(metrics, 'chat_ledger_dead_letter_records_total')).toBe(1);
    expect(service.stdout.split('\n').filter((line) => line.includes('cannot be written'))).toEqual([]);
    expect(valueOf(metrics, 'chat_ledger_write_failures_total')).toBe(0);
    expect(valueOf(metrics, 'chat_ledger_queued_records')).toBe(0);
  });

  it('logs the whole record where it cannot be a dead letter', async () => {
    const [odd, plain] = [await newCaller(), await newCaller()];
    await refusing('usage_records', 'finish_reason', `<> 'length'`, async () => {
      await source.query('ALTER TABLE usage_dead_letters RENAME TO usage_elsewhere');
      await ask(odd, answering('null', 'length'), 'odd-1');
      await ask(plain, PLAIN);
      await kept(plain, 1);
      await waitFor(() => deadLetterLines().some((line) => line.includes('"odd-1"')), 'the line in the log');
      await source.query('ALTER TABLE usage_elsewhere RENAME TO usage_dead_letters');
    });
    const { record } = JSON.parse(deadLetterLines().at(-1) ?? '') as { record: string };
    expect(JSON.parse(record)).toMatchObject({ requestId: 'odd-1', outcome: 'completed' });
  });

  it('calls none of them interrupted after it was killed', async () => {
    await restart();
    const rows = await source.query<Row[]>(`SELECT * FROM usage_records WHERE outcome = 'interrupted'`);
    expect(rows).toEqual([]);
  });

  it('begins streams whose intent its database refuses, and records the others after a kill', async () => {
    const [odd, plain] = [await newCaller(), await newCaller()];
    target.provider.answers(TALKING);
    const open = ({ key }: Caller, id: string) => openStream(origin, { key, headers: { 'x-request-id': id } });
    await refusing('usage_intents', 'streams', `NOT LIKE '%refused-%'`, async () => {
      const started = performance.now();
      await Promise.all([
        open(odd, 'refused-1'),
        open(plain, 'taken-1'),
        open(odd, 'refused-2'),
        open(plain, 'taken-2'),
      ]);
      expect(performance.now() - started).toBeLessThan(5_000);
      await waitFor(() => service.stdout.includes('"requestId":"refused-1"'), 'the line in the log');
    });
    target.provider.answers(PLAIN);
    await restart();
    const rows = await kept(plain, 2);
    expect(rows.map(({ request_id: id, outcome }) => [id, outcome]).sort()).toEqual([
      ['taken-1', 'interrupted'],
      ['taken-2', 'interrupted'],
    ]);
    expect(await recordsOf(odd)).toEqual([]);
  });

  it('finds the streams that a kill interrupted among damaged intents', async () => {
    const started = () => ({
      id: randomUUID(),
      requestId: 'found',
      accountId: 'ada',
      credential: 'session',
      model: 'acme/fast',
      startedAt: STARTED_AT,
    });
    const whole = started();
    const damaged = [
      [{ ...started(), startedAt: null }],
      [{ ...started(), startedAt: 1e300 }],
      [{ ...started(), model: 7 }],
      [{}],
    ];
    const texts = [
      '{"half',
      '7',
      '[null]',
      ...[...damaged, [{}, whole], [whole], [started()]].map((one) => JSON.stringify(one)),
    ];
    for (const text of texts) {
      const values = [1, 2, 3].map(mark).join(', ');
      await source.query(`INSERT INTO usage_intents VALUES (${values})`, [randomUUID(), 'a dead process', text]);
    }
    const before = (await source.query<unknown[]>('SELECT * FROM usage_dead_letters')).length;
    await restart();
    expect((await kept({ accountId: 'ada' }, 2)).map(({ outcome }) => outcome)).toEqual(['interrupted', 'interrupted']);
    await waitFor(
      async () => (await source.query<unknown[]>('SELECT * FROM usage_intents')).length === 0,
      'the intents',
    );
    expect(await source.query<unknown[]>('SELECT * FROM usage_dead_letters')).toHaveLength(before + 8);
    await waitFor(() => deadLetterLines().length >= 8, 'the lines in the log');
    expect(deadLetterLines()).toHaveLength(8);
  });
});
