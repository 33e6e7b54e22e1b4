import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { MODEL } from '../support/catalog.js';
import { valueOf } from '../support/metrics.js';
import { retryWhileOverloaded } from '../support/retry-while-overloaded.js';
import { stream } from '../support/sse-client.js';
import { waitFor } from '../support/wait-for.js';
import { wireOf } from '../support/wire.js';
import { Target } from './support/target.js';
import { Upload } from './support/upload.js';

const MIB = 1024 * 1024;
const LIMIT_BYTES = 4 * MIB;
const CONNECTIONS = 100;
/** All but the last byte of the largest body. */
const UNFINISHED = Buffer.alloc(LIMIT_BYTES - 1, ' ');

const TIERS = {
  free: { requests_per_minute: 10_000, concurrent_streams: 2 },
  pro: { requests_per_minute: 10_000, concurrent_streams: 50 },
};

describe('bodies that are not finished', () => {
  let target: Target;
  const uploads: Upload[] = [];

  beforeAll(async () => {
    target = await Target.start({ tiers: TIERS });
  });
  afterEach(() => {
    for (const upload of uploads.splice(0)) upload.leave();
  });
  afterAll(() => target.stop());

  async function begin(key: string | undefined, count: number, body: Buffer, of = target): Promise<Upload[]> {
    const started = await Promise.all(
      Array.from({ length: count }, () => Upload.start(of.origin, key, { length: LIMIT_BYTES })),
    );
    uploads.push(...started);
    for (const upload of started) void upload.write(body);
    return started;
  }

  const shed = async (reason: string, of = target) => valueOf(await of.metrics(), 'chat_shed_total', { reason });
  const withStatus = (of: readonly Upload[], status: number) => of.filter((one) => one.status === status);
  /** Those that are neither answered nor closed. A client that stands still for two seconds is closed and loses its answer. */
  const waiting = (of: readonly Upload[]) => of.filter((one) => one.status === undefined && !one.isClosed);
  const small = (key: string, of = target) => retryWhileOverloaded(() => stream(of.origin, { key }));
  const large = (key: string, bytes: number) => {
    const content = 'x'.repeat(bytes - 100);
    return stream(target.origin, { key, body: { model: MODEL, messages: [{ role: 'user', content }] } });
  };

  it('of one key are few: the others are refused at once, and let go', async () => {
    const [hostile, honest] = [await target.createKey('one@example.com'), await target.createKey('two@example.com')];
    await small(honest);
    const restMiB = await target.residentMiB();
    const shedBefore = await shed('account_bodies');

    let attack: Upload[] = [];
    const health = await target.healthDuring(async () => {
      attack = await begin(hostile, CONNECTIONS, UNFINISHED);
      await waitFor(() => waiting(attack).length <= 8, 'the refusals');
      const refused = withStatus(attack, 429);
      expect(refused.length).toBeGreaterThan(0);
      await Promise.all(refused.map(({ closed }) => closed));
      expect((await small(honest)).status).toBe(200);
      expect((await large(honest, MIB)).status).toBe(200);
      for (const { answer } of refused) {
        expect(answer).toContain('concurrency_limit_exceeded');
        expect(answer).toMatch(/^connection: close\r$/im);
        expect(answer).toMatch(/^retry-after: \d+\r$/im);
      }
    });

    expect(health.failed).toBe(0);
    expect(waiting(attack).length).toBeGreaterThanOrEqual(4);
    expect((await target.residentMiB()) - restMiB).toBeLessThan(250);
    expect(await shed('account_bodies')).toBe(shedBefore + CONNECTIONS - waiting(attack).length);
    // They have cost the account nothing that lasts.
    for (const upload of attack) upload.leave();
    await waitFor(async () => (await large(hostile, MIB)).status === 200, 'the account to be served again');
  });

  it('of an account with many streams may be many, if they are finished', async () => {
    const key = await target.createKey('pro@example.com');
    await target.installation.admin('account', 'tier', '--email', 'pro@example.com', '--tier', 'pro');

    const answers = await Promise.all(Array.from({ length: 50 }, () => large(key, MIB)));

    const wires = await Promise.all(answers.map((answer) => wireOf(answer)));
    expect(wires.map(({ terminal }) => terminal)).toEqual(Array.from({ length: 50 }, () => 'done'));
  });

  it('of forms are limited by network', async () => {
    const shedBefore = await shed('account_bodies');
    const form = { path: '/sign-in', type: 'application/x-www-form-urlencoded', length: 60_000 };
    const started = await Promise.all(Array.from({ length: 60 }, () => Upload.start(target.origin, undefined, form)));
    uploads.push(...started);
    for (const upload of started) void upload.write('email=');
    await waitFor(() => withStatus(started, 429).length >= 28, 'the refusals');

    expect(waiting(started)).toHaveLength(32);
    expect(await shed('account_bodies')).toBe(shedBefore + 28);
  });

  it('of several accounts leave room for the small bodies of the others', async () => {
    const tight = await Target.start({ tiers: TIERS, env: { NODE_OPTIONS: '--max-old-space-size=160' } });
    onTestFinished(() => tight.stop());
    const keys = await Promise.all(['one', 'two', 'three'].map((name) => tight.createKey(`${name}@example.com`)));
    const [first = '', second = '', third = ''] = keys;
    const attack = [...(await begin(first, 8, UNFINISHED, tight)), ...(await begin(second, 8, UNFINISHED, tight))];
    await waitFor(() => attack.some(({ status }) => status !== undefined), 'a refusal');
    const others = await begin(third, 8, UNFINISHED, tight);
    await waitFor(() => withStatus(others, 503).length > 0, 'a refusal for all');

    const [refused] = withStatus(others, 503);
    expect(refused?.answer).toContain('"unavailable"');
    expect(refused?.answer).toMatch(/^retry-after: \d+\r$/im);
    expect((await small(third, tight)).status).toBe(200);
    expect(await shed('all_bodies', tight)).toBeGreaterThan(0);
  });

  it('are not read from a stranger, nor is the connection held', async () => {
    const started = await begin(undefined, 20, UNFINISHED);
    await Promise.all(started.map(({ closed }) => closed));

    expect(withStatus(started, 401)).toHaveLength(20);
    expect((await large('csk_unknown', LIMIT_BYTES)).status).toBe(401);
  });

  it('are refused with an answer that a client gets while it is still sending', async () => {
    const key = await target.createKey();
    for (let turn = 0; turn < 10; turn++) {
      const answer = await stream(target.origin, { key, body: Buffer.alloc(LIMIT_BYTES + 1, 'x') });
      expect(answer.status).toBe(413);
      expect((await answer.error()).code).toBe('payload_too_large');
    }
  });
});
