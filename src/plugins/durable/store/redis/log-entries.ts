import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { type ErrorCode, ERRORS, isDefinedCode, ServiceError } from '../../../../plugin-api/core/common.js';
import type { CompletionPart } from '../../../../plugin-api/core/upstreams.js';
import { CLAIM_RELEASED, type Ending, type LogPlace, type StreamLog } from '../../log/stream-log.js';
import { derive } from '../../stream-identity.js';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const FAILURE = 'failure';

/** What one entry of a stream holds: the facts before the first part, parts, or the ending. Most parts are texts. */
interface StreamEntry {
  readonly head?: unknown;
  readonly parts?: readonly CompletionPart[];
  readonly ending?: Ending;
}

/**
 * Seals what Redis keeps of one stream, with AES-256-GCM. The key is derived from a secret that Redis never gets, and the
 * nonces are random.
 */
export class StreamCipher {
  private readonly key: Buffer;

  /**
   * @param secret at least 256 bits that Redis does not know.
   * @param salt the id of the generation.
   */
  constructor(secret: Buffer, salt: string, purpose: string) {
    this.key = derive(secret, salt, `chat durable stream: ${purpose}`);
  }

  /** @param label must be the same when the bytes are opened, so that an entry cannot replace another one. */
  seal(bytes: Buffer, label: string): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.key, nonce).setAAD(Buffer.from(label));
    return Buffer.concat([nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
  }

  /** Returns `undefined` when the bytes were sealed with another key or label, or were changed. */
  open(sealed: Buffer, label: string): Buffer | undefined {
    if (sealed.length < NONCE_BYTES + TAG_BYTES) return undefined;
    const decipher = createDecipheriv(CIPHER, this.key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(label)).setAuthTag(sealed.subarray(-TAG_BYTES));
    try {
      return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
    } catch {
      return undefined;
    }
  }

  /** @param number the number of entries before this one. */
  sealEntry(entry: StreamEntry, number: number): Buffer {
    return this.seal(Buffer.from(JSON.stringify(entry)), `entry ${number}`);
  }

  openEntry(sealed: Buffer, number: number): StreamEntry | undefined {
    const json = this.open(sealed, `entry ${number}`);
    return json && (JSON.parse(json.toString()) as StreamEntry);
  }

  /** Returns the reason why a stream never begins, for the requests that wait. Empty for `CLAIM_RELEASED`. */
  sealFailure(reason: Error): Buffer | '' {
    if (!(reason instanceof ServiceError)) return '';
    const { code, message, status, retryAfterSeconds, details } = reason;
    return this.seal(Buffer.from(JSON.stringify({ code, message, status, retryAfterSeconds, details })), FAILURE);
  }

  openFailure(sealed: Buffer): Error {
    const json = this.open(sealed, FAILURE);
    if (json === undefined) return CLAIM_RELEASED;
    const { code, message, ...options } = JSON.parse(json.toString()) as { code: string; message: string };
    // A replica of a later version may know more codes.
    return Object.hasOwn(ERRORS, code) || isDefinedCode(code as ErrorCode)
      ? new ServiceError(code as ErrorCode, message, options)
      : CLAIM_RELEASED;
  }
}

/** An entry with this much text is full. In UTF-16 units. */
const ENTRY_LENGTH = 16 * 1024;

/**
 * Divides a log into the entries that Redis gets: the head, parts, and the ending. An entry that was sent once stays as it is, because
 * Redis may have it.
 */
export class LogEntries {
  /** The place at which each entry with parts starts. The first one is the second entry of all. */
  private readonly starts: LogPlace[] = [{ index: 0, offset: 0 }];
  private length = 0;

  constructor(
    private readonly log: StreamLog,
    private readonly cipher: StreamCipher,
  ) {}

  /** The text that is in no entry yet, in UTF-16 units. */
  get waitingLength(): number {
    return this.log.length - this.length;
  }

  /** The number of entries so far, without the ending. */
  get count(): number {
    return this.starts.length;
  }

  /** Whether all parts are in entries. */
  get hasAll(): boolean {
    return this.log.isAtEnd(this.starts.at(-1) as LogPlace);
  }

  /** Returns the first entry. */
  head(): Buffer {
    return this.cipher.sealEntry({ head: this.log.head }, 0);
  }

  /** Returns the entry after `written` entries, or '' if there is none. `isEnd`: the entry is the ending. */
  next(written: number, ending: Ending | undefined): readonly [entry: Buffer | '', isEnd: boolean] {
    if (written === 0) return [this.head(), false];
    const from = this.starts[written - 1] as LogPlace;
    const to = this.starts[written] ?? this.endOfEntry(from);
    if (to.index !== from.index || to.offset !== from.offset) {
      this.starts[written] = to;
      return [this.cipher.sealEntry({ parts: this.log.between(from, to) }, written), false];
    }
    return ending === undefined ? ['', false] : [this.cipher.sealEntry({ ending }, written), true];
  }

  private endOfEntry(from: LogPlace): LogPlace {
    const to = { ...from };
    let length = 0;
    while (length < ENTRY_LENGTH) {
      const part = this.log.read(to, ENTRY_LENGTH);
      if (part === undefined) break;
      length += part.type === 'text' ? part.text.length : 1;
      if (part.type === 'text') this.length += part.text.length;
    }
    return to;
  }
}
