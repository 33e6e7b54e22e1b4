import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { hash, verify } from '@node-rs/argon2';
import { KeyedSemaphore } from '../../platform/common/concurrency/keyed-semaphore.js';
import { ServiceError } from '../../platform/common/service-error.js';
import { ShedLoad } from '../../platform/common/shed-load.js';

/** OWASP's parameters for Argon2id, which is the package's default algorithm. */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** The maximum length of a normalized password, in characters. */
export const MAX_PASSWORD_LENGTH = 1_024;

/** Half of Node's default thread pool, which also serves the file system and DNS. Each hash takes 19 MiB of memory. */
const CONCURRENT_HASHES = 2;
/** How many hashes may wait: about a second of work. */
const WAITING_HASHES = 48;
const RETRY_AFTER_SECONDS = 2;
/** The semaphore's key for the operator's commands. */
const OPERATOR = 'operator';

/**
 * The longest text that is normalized, in UTF-16 units. NFKC joins at most four characters into one, so a longer text
 * exceeds the maximum length of a password in any case. NFKC also turns one character into up to 18, which costs time.
 */
const MAX_NORMALIZED_LENGTH = 4 * MAX_PASSWORD_LENGTH;

/** A hash of random bits, which no password has. It has the form of a real hash, so that verifying takes as long. */
const DUMMY_HASH = [
  '',
  'argon2id',
  'v=19',
  `m=${PARAMETERS.memoryCost},t=${PARAMETERS.timeCost},p=${PARAMETERS.parallelism}`,
  unpadded(randomBytes(16)),
  unpadded(randomBytes(32)),
].join('$');

/**
 * Hashes and compares passwords at a bounded cost. A burst of sign-ins must not use up the memory that streams need.
 * Networks take turns, so that one network cannot keep the others waiting.
 */
@Injectable()
export class PasswordHashing {
  private readonly semaphore: KeyedSemaphore;

  constructor(shedLoad: ShedLoad) {
    this.semaphore = new KeyedSemaphore({ permits: CONCURRENT_HASHES, maxWaiters: WAITING_HASHES }, () => {
      shedLoad.count('password_hashing');
      return tooManyWaiting();
    });
  }

  /**
   * @param network the network of the client, in the form that `sitePrefixOf` returns.
   * @throws {ServiceError} `unavailable` when too many hashes wait already. {@link verify} throws the same error.
   */
  async hash(password: string, network = OPERATOR): Promise<string> {
    return this.semaphore.run(network, () => hash(normalizePassword(password), PARAMETERS));
  }

  /**
   * @param passwordHash `undefined` when the account does not exist. The result is then `false` after the same work, so that
   * the response time does not disclose which accounts exist.
   * @param network see {@link hash}.
   */
  async verify(passwordHash: string | undefined, password: string, network = OPERATOR): Promise<boolean> {
    return this.semaphore.run(network, () => verify(passwordHash ?? DUMMY_HASH, normalizePassword(password)));
  }
}

/**
 * Returns the form in which a password is measured, hashed and compared (NIST SP 800-63B). With NFKC instead of NFC, the
 * same keys give the same password on another system. An example is the full-width letters of a Japanese keyboard.
 */
export function normalizePassword(password: string): string {
  return password.length > MAX_NORMALIZED_LENGTH ? password : password.normalize('NFKC');
}

function tooManyWaiting(): ServiceError {
  return new ServiceError('unavailable', 'Too many people are signing in right now. Try again in a moment.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}

/**
 * The password hash of an account without a password. It has the form of a hash, so that to compare a password with it takes as
 * long as with any other, also in a replica of an earlier version. Nobody can find a password with this hash: its salt and its
 * digest are zeros.
 */
export const NO_PASSWORD = `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`;

/** Whether the account has a password. */
export function hasPassword({ passwordHash }: { readonly passwordHash: string }): boolean {
  return passwordHash !== NO_PASSWORD;
}
