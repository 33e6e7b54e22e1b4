import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { hash, verify } from '@node-rs/argon2';
import { WorkQueue } from './work-queue.js';

/** OWASP's parameters for Argon2id, which is the package's default algorithm. */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** Half of the threads that Node has for this and for the file system and DNS; 19 MiB each. */
const HASHES_AT_ONCE = 2;
/** About a second of work. */
const HASHES_WAITING = 48;

/** No password has this hash: its bits are random. Of the shape of a real one, so that to verify it takes as long. */
const DUMMY_HASH = [
  '',
  'argon2id',
  'v=19',
  `m=${PARAMETERS.memoryCost},t=${PARAMETERS.timeCost},p=${PARAMETERS.parallelism}`,
  unpadded(randomBytes(16)),
  unpadded(randomBytes(32)),
].join('$');

/** Keeps and compares passwords, at a bounded cost: a burst of sign-ins must not take the memory of the streams. */
@Injectable()
export class PasswordHashing {
  private readonly queue = new WorkQueue(HASHES_AT_ONCE, HASHES_WAITING);

  /** @throws {ServiceError} `unavailable` when too many hashes wait already; so does {@link verify}. */
  async hash(password: string): Promise<string> {
    return this.queue.run(() => hash(normalizePassword(password), PARAMETERS));
  }

  /**
   * @param passwordHash `undefined` when there is no such account: the answer is then `false`, after the same work, so
   * that its time does not tell who has an account.
   */
  async verify(passwordHash: string | undefined, password: string): Promise<boolean> {
    return this.queue.run(() => verify(passwordHash ?? DUMMY_HASH, normalizePassword(password)));
  }
}

/**
 * The one spelling in which a password is measured, kept and compared (NIST SP 800-63B). NFKC, not NFC: the same keys
 * pressed on another system, such as full-width letters of a Japanese keyboard, are then the same password.
 */
export function normalizePassword(password: string): string {
  return password.normalize('NFKC');
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}
