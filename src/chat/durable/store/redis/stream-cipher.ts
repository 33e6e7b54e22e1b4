import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { derive } from '../../identity/stream-identity.js';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const UTF8 = 0;
const UTF16 = 1;

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

  sealText(text: string, label: string): Buffer {
    // UTF-8 cannot represent half a code point, which a provider may send.
    const [kind, encoding] = text.isWellFormed() ? [UTF8, 'utf8' as const] : [UTF16, 'utf16le' as const];
    return this.seal(Buffer.concat([Buffer.of(kind), Buffer.from(text, encoding)]), label);
  }

  openText(sealed: Buffer, label: string): string | undefined {
    const bytes = this.open(sealed, label);
    return bytes?.subarray(1).toString(bytes[0] === UTF16 ? 'utf16le' : 'utf8');
  }
}
