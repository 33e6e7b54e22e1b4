import { createHash, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { canonicalJson, sortedEntries, Steps } from '../../plugin-api/core/common.js';
import { invalidRequest } from '../../plugin-api/core/http.js';

const TAG_LENGTH = 8;
const RADIX = 36;
const POSITION = /^([\w-]{8})-([\da-z]{1,9})$/;
const LOCATOR_BYTES = 16;
const SECRET_BYTES = 32;
/** The text that is hashed at once, in UTF-16 units. */
const SLICE_LENGTH = 64 * 1024;
const ID_LENGTH = ((LOCATOR_BYTES + SECRET_BYTES) * 4) / 3;
const STREAM_ID = new RegExp(`^[\\w-]{${ID_LENGTH}}$`);

/** What a request and its repetitions have in common. */
export interface RequestKey {
  readonly accountId: string;
  /** The key of the stream in a store. Made from the account and the `Idempotency-Key`, in hexadecimal digits. */
  readonly locator: string;
  /** Made from the `Idempotency-Key` and the body. Only a client that sends both again has the same value. */
  readonly proof: Buffer;
}

/** The parts of an `X-Stream-Id`. */
export interface StreamAddress {
  readonly locator: string;
  /** 256 random bits. Only the client and the replicas that serve the client know the secret. */
  readonly secret: Buffer;
}

/**
 * Derives the key of a request. Two bodies with the same members and values are the same body. A long conversation is
 * divided into steps, so that other requests do not wait.
 */
export async function requestKey(accountId: string, idempotencyKey: string, body: object): Promise<RequestKey> {
  const digest = createHash('sha256').update(`${idempotencyKey.length}:${idempotencyKey}`);
  const steps = new Steps();
  for (const [member, value] of sortedEntries(body)) {
    digest.update(`\n${JSON.stringify(member)}:`);
    for (const item of Array.isArray(value) ? (value as unknown[]) : [value]) {
      const text = canonicalJson(item);
      digest.update(`\n${text.length}:`);
      for (let start = 0; start < text.length; start += SLICE_LENGTH) {
        digest.update(text.slice(start, start + SLICE_LENGTH), 'utf16le');
        if (steps.isOver) await steps.next();
      }
    }
  }
  return {
    accountId,
    locator: locatorOf(accountId, idempotencyKey),
    proof: derive(digest.digest(), accountId, 'chat durable stream: proof of the request'),
  };
}

/** Returns the locator of a request whose body is not known yet. */
export function locatorOf(accountId: string, idempotencyKey: string): string {
  const digest = createHash('sha256').update(`${accountId}\n${idempotencyKey}`).digest();
  return digest.toString('hex', 0, LOCATOR_BYTES);
}

export function newSecret(): Buffer {
  return randomBytes(SECRET_BYTES);
}

/** Returns the `X-Stream-Id`. */
export function streamId({ locator, secret }: StreamAddress): string {
  return Buffer.concat([Buffer.from(locator, 'hex'), secret]).toString('base64url');
}

/** Returns the parts of an `X-Stream-Id`, or `undefined` if the text cannot be one. */
export function parseStreamId(id: string): StreamAddress | undefined {
  if (!STREAM_ID.test(id)) return undefined;
  const bytes = Buffer.from(id, 'base64url');
  return { locator: bytes.toString('hex', 0, LOCATOR_BYTES), secret: bytes.subarray(LOCATOR_BYTES) };
}

/** Derives a key of 256 bits from a secret (HKDF with SHA-256, RFC 5869). Each purpose has its own key. */
export function derive(secret: Buffer, salt: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, salt, purpose, SECRET_BYTES));
}

/** Compares in constant time, so that the time does not disclose how much of a secret is right. */
export function isSame(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}

/** Returns a text that only the positions of this stream begin with. */
export function positionTag(streamId: string): string {
  return createHash('sha256').update(`position ${streamId}`).digest('base64url').slice(0, TAG_LENGTH);
}

/** @param offset the number of UTF-16 units before the position. */
export function formatPosition(tag: string, offset: number): string {
  return `${tag}-${offset.toString(RADIX)}`;
}

/**
 * Returns the offset that `Last-Event-ID` names.
 *
 * @throws {ServiceError} `invalid_request` if the value is not a position of this stream. Text after a position of another
 * stream would not fit to what the client has.
 */
export function offsetOf(lastEventId: string, tag: string): number {
  const [, sentTag, offset] = POSITION.exec(lastEventId) ?? [];
  if (sentTag !== tag || offset === undefined) {
    throw invalidRequest([{ field: 'Last-Event-ID', message: 'must be the id of an event of this stream' }]);
  }
  return parseInt(offset, RADIX);
}
