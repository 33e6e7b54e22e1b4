import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  derive,
  formatPosition,
  isSame,
  locatorOf,
  newSecret,
  offsetOf,
  parseStreamId,
  positionTag,
  requestKey,
  streamId,
} from '../../../../src/plugins/durable/stream-identity.js';

const BODY = { model: 'acme/fast', messages: [{ role: 'user', content: 'Hello' }], temperature: 0.5 };

describe('the key of a request', () => {
  const keyOf = async (body: object, name = 'one', account = 'ada'): Promise<string> => {
    const { proof } = await requestKey(account, name, body);
    return proof.toString('hex');
  };

  it('has the account, a slot number that needs no body, and a proof of 256 bits', async () => {
    const key = await requestKey('ada', 'one', BODY);
    expect([key.accountId, key.locator, key.proof.length]).toEqual(['ada', locatorOf('ada', 'one'), 32]);
    expect(key.locator).toMatch(/^[\da-f]{32}$/);
  });

  it.each([
    ['another value', { ...BODY, temperature: 0.6 }],
    ['another type', { ...BODY, temperature: '0.5' }],
    ['one more member', { ...BODY, max_tokens: 1 }],
    ['null', { ...BODY, temperature: null }],
    ['a member less', { model: BODY.model, messages: BODY.messages }],
    ['one more message', { ...BODY, messages: [...BODY.messages, ...BODY.messages] }],
    ['another message', { ...BODY, messages: [{ role: 'user', content: 'Hello!' }] }],
    ['another role', { ...BODY, messages: [{ role: 'system', content: 'Hello' }] }],
    ['an array for a value', { ...BODY, temperature: [0.5, 0.5] }],
  ])('is another one with %s', async (_, other) => {
    expect(await keyOf(other)).not.toBe(await keyOf(BODY));
  });

  it('is another one for another name and another account, wherever they meet', async () => {
    const keys = [await keyOf(BODY), await keyOf(BODY, 'two'), await keyOf(BODY, 'one', 'bob')];
    expect(new Set(keys).size).toBe(3);
    expect(locatorOf('a', 'b\nc')).toBe(locatorOf('a', 'b\nc'));
    expect(new Set([locatorOf('ada', 'one'), locatorOf('ada', 'two'), locatorOf('bob', 'one')]).size).toBe(3);
    expect(await keyOf({ a: 1 }, '1')).not.toBe(await keyOf({ 'a:1': undefined, a: 1 }, '1:a'));
  });

  it('differs for two long texts that differ at the end or at the border of a step', async () => {
    const long = (text: string) => ({ ...BODY, messages: [{ role: 'user', content: text }] });
    const base = 'ä'.repeat(200_000);
    const keys = [base, `${base}x`, `${base.slice(0, 64 * 1024 - 30)}y${base.slice(64 * 1024 - 29)}`];
    expect(new Set(await Promise.all(keys.map((text) => keyOf(long(text))))).size).toBe(3);
  });

  it('lets other work go on while it reads a long conversation', async () => {
    let turns = 0;
    let timer = setImmediate(function count() {
      turns += 1;
      timer = setImmediate(count);
    });
    await requestKey('ada', 'one', { ...BODY, messages: [{ role: 'user', content: 'é'.repeat(8_000_000) }] });
    clearImmediate(timer);
    expect(turns).toBeGreaterThan(2);
  });
});

describe('the id of a stream', () => {
  const address = { locator: locatorOf('ada', 'one'), secret: newSecret() };

  it('is 64 characters that contain the slot and the secret', () => {
    const id = streamId(address);
    expect(id).toMatch(/^[\w-]{64}$/);
    expect(parseStreamId(id)).toEqual(address);
  });

  it.each(['', 'x'.repeat(63), 'x'.repeat(65), `${'x'.repeat(63)}=`, `${'x'.repeat(64)}\n`, ` ${'x'.repeat(64)}`])(
    'is not %j',
    (text) => {
      expect(parseStreamId(text)).toBeUndefined();
    },
  );

  it('has a secret of 256 bits that is another one each time', () => {
    expect(newSecret()).toHaveLength(32);
    expect(isSame(newSecret(), newSecret())).toBe(false);
  });

  it('is compared whole', () => {
    expect(isSame(address.secret, Buffer.from(address.secret))).toBe(true);
    expect(isSame(address.secret, address.secret.subarray(1))).toBe(false);
    expect(isSame(Buffer.of(1, 2), Buffer.of(1, 3))).toBe(false);
  });

  it('derives a separate key for each purpose', () => {
    const one = derive(address.secret, 'salt', 'one');
    expect(one).toHaveLength(32);
    expect(isSame(one, derive(address.secret, 'salt', 'one'))).toBe(true);
    for (const other of [derive(address.secret, 'salt', 'two'), derive(address.secret, 'pepper', 'one')]) {
      expect(isSame(one, other)).toBe(false);
    }
  });
});

describe('a position in a stream', () => {
  const tag = positionTag('a stream');

  it('begins with what only this stream has', () => {
    expect(tag).toMatch(/^[\w-]{8}$/);
    expect(positionTag('another')).not.toBe(tag);
  });

  it('is read back, for any offset', () => {
    expect(formatPosition('12345678', 71)).toBe('12345678-1z');
    fc.assert(
      fc.property(fc.nat(), (offset) => {
        expect(offsetOf(formatPosition(tag, offset), tag)).toBe(offset);
      }),
    );
  });

  it.each([
    '',
    tag,
    `${tag}-`,
    `${tag}-0x`.toUpperCase(),
    `${tag}-1_`,
    `x${tag}-1`,
    `${tag}-1\n`,
    `${tag}-${'1'.repeat(10)}`,
  ])('is not %j', (sent) => {
    const problem = { code: 'invalid_request', details: [{ field: 'Last-Event-ID' }] };
    expect(() => offsetOf(sent, tag)).toThrow(expect.objectContaining({ code: problem.code }));
  });
});
