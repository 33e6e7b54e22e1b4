import { createDecipheriv } from 'node:crypto';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { derive } from '../../../../../../src/chat/durable/identity/stream-identity.js';
import { CLAIM_RELEASED, StreamLog, type Ending } from '../../../../../../src/chat/durable/log/stream-log.js';
import { StreamCipher } from '../../../../../../src/chat/durable/store/redis/stream-cipher.js';
import {
  applyEntry,
  endLost,
  sealedFailure,
  writtenEntry,
} from '../../../../../../src/chat/durable/store/redis/stream-entry.js';
import { defineError } from '../../../../../../src/common/define-error.js';
import { ServiceError } from '../../../../../../src/common/service-error.js';
import { memoryOf, textOf } from '../../../../../contract/durable/describe-stream-store.js';

const SECRET = Buffer.alloc(32, 7);
const [NONCE_BYTES, TAG_BYTES] = [12, 16];
const DONE = { kind: 'done' } as const;
const FAILED = { kind: 'failed', code: 'upstream_error', message: 'It failed.' } as const;
const INTERRUPTED = {
  kind: 'failed',
  code: 'interrupted',
  message: 'The process that generated this stream has stopped unexpectedly. The text up to here is kept.',
};
const HALF_A_FOX = '🦊'.charAt(0);
const cipher = new StreamCipher(SECRET, 'g1', 'text');
const strange = new StreamCipher(SECRET, 'g2', 'text');

let log: StreamLog;

beforeEach(() => {
  log = new StreamLog(memoryOf());
});

const fieldsOf = (entry: readonly (string | Buffer)[]): Map<string, Buffer> => {
  const fields = new Map<string, Buffer>();
  for (let index = 0; index < entry.length; index += 2) {
    fields.set(String(entry[index]), Buffer.from(entry[index + 1] as Buffer));
  }
  return fields;
};
const written = (offset: number, text: string, ending?: Ending): Map<string, Buffer> =>
  fieldsOf(writtenEntry(cipher, offset, text, ending));
const apply = (fields: Map<string, Buffer>): void => {
  applyEntry(fields, cipher, log);
};
const state = (): unknown[] => [textOf(log), log.ending, log.hasBegun];
const outcome = (): Promise<unknown> => log.begun.catch((reason: unknown) => reason);

describe('the cipher of a stream', () => {
  it('seals with AES-256-GCM: a nonce, the sealed bytes, and a tag', () => {
    const sealed = cipher.seal(Buffer.from('Hello'), 'label');
    expect(sealed).toHaveLength(NONCE_BYTES + 5 + TAG_BYTES);
    const key = derive(SECRET, 'g1', 'chat durable stream: text');
    const opener = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES));
    opener.setAAD(Buffer.from('label')).setAuthTag(sealed.subarray(-TAG_BYTES));
    const opened = [opener.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), opener.final()];
    expect(Buffer.concat(opened).toString()).toBe('Hello');
  });

  it('seals the same bytes with another nonce each time', () => {
    const nonces = [1, 2, 3].map(() => cipher.seal(Buffer.from('Hello'), '').toString('hex', 0, NONCE_BYTES));
    expect(new Set(nonces).size).toBe(3);
  });

  it('opens what it has sealed, also nothing', () => {
    expect(cipher.open(cipher.seal(Buffer.from('Hello'), 'label'), 'label')?.toString()).toBe('Hello');
    expect(cipher.open(cipher.seal(Buffer.of(), 'label'), 'label')).toEqual(Buffer.of());
  });

  it.each([
    ['secret', new StreamCipher(Buffer.alloc(32, 8), 'g1', 'text'), 'label'],
    ['generation', strange, 'label'],
    ['purpose', new StreamCipher(SECRET, 'g1', 'other'), 'label'],
    ['label', cipher, 'another'],
  ])('does not open what was sealed with another %s', (_, other, label) => {
    expect(other.open(cipher.seal(Buffer.from('Hello'), 'label'), label)).toBeUndefined();
  });

  it('opens nothing of which a byte was changed, or is missing', () => {
    const sealed = cipher.seal(Buffer.from('Hello'), 'label');
    for (let index = 0; index < sealed.length; index++) {
      const changed = Buffer.from(sealed);
      changed[index] = (changed[index] ?? 0) ^ 1;
      expect(cipher.open(changed, 'label')).toBeUndefined();
      expect(cipher.open(sealed.subarray(0, index), 'label')).toBeUndefined();
    }
  });

  it('seals text in UTF-8, or in UTF-16 if it divides a character', () => {
    for (const [text, bytes] of [
      ['', 0],
      ['é', 2],
      ['🦊', 4],
      [`é${HALF_A_FOX}`, 4],
    ] as const) {
      const sealed = cipher.sealText(text, 'label');
      expect(sealed).toHaveLength(NONCE_BYTES + 1 + bytes + TAG_BYTES);
      expect(cipher.openText(sealed, 'label')).toBe(text);
      expect(cipher.openText(sealed, 'another')).toBeUndefined();
    }
    const kinds = ['é', HALF_A_FOX].map((text) => cipher.open(cipher.sealText(text, ''), '')?.[0]);
    expect(kinds).toEqual([0, 1]);
  });
});

describe('an entry of a stream', () => {
  it('has the offset, the sealed text, and the sealed ending if it is the last', () => {
    const names = (ending?: Ending): unknown[] => writtenEntry(cipher, 3, 'lo', ending).filter((_, at) => at % 2 === 0);
    expect([names(), names(DONE)]).toEqual([
      ['o', 't'],
      ['o', 't', 'e'],
    ]);
    const fields = written(3, 'lo', FAILED);
    expect(fields.get('o')?.toString()).toBe('3');
    expect(cipher.openText(fields.get('t') ?? Buffer.of(), 'text 3')).toBe('lo');
    expect(JSON.parse(String(cipher.open(fields.get('e') ?? Buffer.of(), 'ending')))).toEqual(FAILED);
  });

  it('begins the log with its text, and the next goes on', async () => {
    apply(written(0, ''));
    await log.begun;
    expect(state()).toEqual(['', undefined, true]);
    apply(written(0, 'Hel'));
    apply(written(3, 'lo'));
    expect(state()).toEqual(['Hello', undefined, true]);
  });

  it.each([DONE, FAILED])('ends the log after its text: %o', (ending) => {
    apply(written(0, 'Hello', ending));
    expect(state()).toEqual(['Hello', ending, true]);
  });

  it('adds only what the log does not have, after the stream was written anew', () => {
    apply(written(0, 'Hello'));
    apply(written(0, 'Hel'));
    apply(written(3, 'lo, you', DONE));
    expect(state()).toEqual(['Hello, you', DONE, true]);
  });

  it.each([
    ['leaves a gap', () => written(6, 'you', DONE)],
    ['has no text', () => new Map([['o', Buffer.from('5')]])],
    ['was sealed by another', () => fieldsOf(writtenEntry(strange, 5, ' you', DONE))],
    ['has the place of another', () => written(4, 'o you', DONE).set('o', Buffer.from('5'))],
    ['has no offset', () => new Map([['t', cipher.sealText(' you', 'text 5')]])],
  ])('that %s interrupts the stream', (_, fields) => {
    apply(written(0, 'Hello'));
    apply(fields());
    expect(state()).toEqual(['Hello', INTERRUPTED, true]);
  });

  it('interrupts the stream if its ending cannot be opened', () => {
    const ending = fieldsOf(writtenEntry(strange, 0, '', DONE)).get('e') ?? Buffer.of();
    apply(written(0, 'Hello').set('e', ending));
    expect(state()).toEqual(['Hello', INTERRUPTED, true]);
  });

  it('ends the log for which there is no memory, with the reason', () => {
    log = new StreamLog(memoryOf(2_000 / 1024 / 1024));
    apply(written(0, 'x'.repeat(900)));
    apply(written(900, 'x'.repeat(900), DONE));
    const message = 'This process cannot keep more text of durable streams. Try again.';
    expect([log.length, log.ending]).toEqual([900, { kind: 'failed', code: 'unavailable', message }]);
  });

  it('interrupts the stream of an owner that is dead', async () => {
    apply(new Map([['x', Buffer.of()]]));
    await log.begun;
    expect(state()).toEqual(['', INTERRUPTED, true]);
  });

  it('brings no text once the owner is dead', () => {
    apply(written(0, 'Hello', DONE).set('x', Buffer.of()));
    expect(state()).toEqual(['', INTERRUPTED, true]);
  });
});

describe('an abandoned stream', () => {
  const abandoned = (sealed: Buffer | ''): Promise<unknown> => {
    apply(new Map([['r', Buffer.from(sealed)]]));
    return outcome();
  };
  const sealedAs = (failure: object, label = 'failure'): Buffer =>
    cipher.seal(Buffer.from(JSON.stringify(failure)), label);

  it('restores the failure as it was, and neither begins nor ends', async () => {
    const failure = new ServiceError('rate_limit_exceeded', 'Later.', {
      status: 418,
      retryAfterSeconds: 9,
      details: [{ field: 'model', message: 'It is busy.' }],
      headers: { Allow: 'GET' },
      cause: new Error('PLANTED'),
    });
    const restored = await abandoned(sealedFailure(cipher, failure));
    expect(restored).toBeInstanceOf(ServiceError);
    expect(restored).toMatchObject({
      code: 'rate_limit_exceeded',
      message: 'Later.',
      status: 418,
      retryAfterSeconds: 9,
      details: [{ field: 'model', message: 'It is busy.' }],
      headers: {},
    });
    expect((restored as ServiceError).cause).toBeUndefined();
    expect(state()).toEqual(['', undefined, false]);
  });

  it('restores a failure with the code of a plugin', async () => {
    const Guardrail = defineError('acme_entry_guardrail', { status: 422, description: 'The guardrail refuses it.' });
    const restored = await abandoned(sealedFailure(cipher, new Guardrail('No.')));
    expect(restored).toMatchObject({ code: 'acme_entry_guardrail', message: 'No.', status: 422 });
  });

  it('has no failure if its claim was released', async () => {
    expect(sealedFailure(cipher, CLAIM_RELEASED)).toBe('');
    expect(await abandoned('')).toBe(CLAIM_RELEASED);
  });

  it.each([
    ['has a code of a later version', () => sealedAs({ code: 'of_tomorrow', message: 'No.' })],
    ['is an ending', () => sealedAs(FAILED, 'ending')],
    ['was sealed by another', () => sealedFailure(strange, new ServiceError('forbidden', 'No.'))],
  ])('is as released if its failure %s', async (_, sealed) => {
    expect(await abandoned(sealed())).toBe(CLAIM_RELEASED);
  });
});

describe('a stream that Redis has lost', () => {
  it('is as released where it has not begun', async () => {
    const heard = vi.fn();
    log.follow(heard);
    endLost(log);
    expect(await outcome()).toBe(CLAIM_RELEASED);
    expect([...state(), heard.mock.calls.length]).toEqual(['', INTERRUPTED, false, 1]);
  });

  it('is interrupted where it has begun', async () => {
    apply(written(0, 'Hello'));
    endLost(log);
    await expect(log.begun).resolves.toBeUndefined();
    expect(state()).toEqual(['Hello', INTERRUPTED, true]);
  });
});
