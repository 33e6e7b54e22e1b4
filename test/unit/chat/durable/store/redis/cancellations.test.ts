import { beforeEach, describe, expect, it } from 'vitest';
import { Cancellations } from '../../../../../../src/chat/durable/store/redis/cancellations.js';
import { Latch, isOver } from '../../../../../support/latch.js';
import { AWAY, FakeStreamRedis } from './fake-stream-redis.js';

const INBOX = 'chat:stream-inbox:me';

type Message = [id: string, fields: string[]];

let redis: FakeStreamRedis;
let cancellations: Cancellations;
let cancelled: string[];

beforeEach(() => {
  redis = new FakeStreamRedis();
  cancelled = [];
  cancellations = new Cancellations(redis, 'me', (textKey) => cancelled.push(textKey));
});

/** Reads the inbox, which has these messages. */
async function read(...messages: Message[]): Promise<void> {
  redis.answer = () => [[INBOX, messages]];
  await cancellations.read();
}

describe('the requests to cancel streams of this replica', () => {
  it('are delivered in order, once each, and messages of another kind are skipped', async () => {
    await read(['1-0', ['c', 'text-1']], ['2-0', ['c', 'text-2']], ['3-0', ['later', 'text-3']]);
    expect(cancelled).toEqual(['text-1', 'text-2']);
    await read(['4-0', ['c', 'text-4']]);
    expect(cancelled.slice(2)).toEqual(['text-4']);
    expect(redis.slots).toEqual([INBOX, INBOX]);
    expect(redis.of('sendCommand').map(({ keys: [command] }) => command)).toEqual([
      ['XREAD', 'COUNT', '64', 'STREAMS', INBOX, '0-0'],
      ['XREAD', 'COUNT', '64', 'STREAMS', INBOX, '3-0'],
    ]);
  });

  it.each([
    ['nothing', null],
    ['no stream', []],
    ['no messages', [[INBOX, []]]],
  ])('are none after a reply with %s', async (_, reply) => {
    redis.answer = () => reply;
    await cancellations.read();
    expect(cancelled).toEqual([]);
  });

  it('are read from the same offset after Redis was unavailable', async () => {
    await read(['1-0', ['c', 'text-1']]);
    redis.goAway(AWAY);
    await expect(cancellations.read()).rejects.toBe(AWAY);
    redis.comeBack();
    await read(['2-0', ['c', 'text-2']]);
    expect(redis.of('sendCommand').at(-1)?.keys[0]).toContain('1-0');
    expect(cancelled).toEqual(['text-1', 'text-2']);
  });
});

describe('a request to another replica', () => {
  const THEIRS = 'chat:stream-inbox:they';

  it('is written to its inbox, which is kept short and for a minute', async () => {
    await cancellations.send('they', 'text-1');
    const TRIM = { strategy: 'MAXLEN', strategyModifier: '~', threshold: 1_000 };
    expect(redis.slots).toEqual([THEIRS]);
    expect(redis.sent).toMatchObject([
      { name: 'xAdd', keys: [THEIRS], args: ['*', { c: 'text-1' }, { TRIM }] },
      { name: 'pExpire', keys: [THEIRS], args: [60_000] },
    ]);
  });

  it('is over when Redis has it', async () => {
    const stored = new Latch();
    redis.answer = () => stored.opened;
    const sent = cancellations.send('they', 'text-1');
    expect(await isOver(sent)).toBe(false);
    stored.open();
    expect(await isOver(sent)).toBe(true);
  });

  it('fails where Redis is unavailable', async () => {
    redis.goAway(AWAY);
    await expect(cancellations.send('they', 'text-1')).rejects.toBe(AWAY);
  });
});
