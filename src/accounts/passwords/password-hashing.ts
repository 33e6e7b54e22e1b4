import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { hash, verify } from '@node-rs/argon2';
import { ServiceError } from '../../common/service-error.js';
import { ShedLoad } from '../../common/shed-load.js';
import { FairQueue } from './fair-queue.js';

/** OWASP's parameters for Argon2id, which is the package's default algorithm. */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** Characters of a password at most, once it is normalized. */
export const MAX_PASSWORD_LENGTH = 1_024;

/** Half of the threads that Node has for this and for the file system and DNS; 19 MiB each. */
const HASHES_AT_ONCE = 2;
/** About a second of work. */
const HASHES_WAITING = 48;
const RETRY_AFTER_SECONDS = 2;
/** The party of the operator's own commands. */
const OPERATOR = 'operator';

/**
 * Longest text that is normalized, in UTF-16 units. NFKC joins at most four characters into one, so a longer text is no
 * password that anyone could have chosen. It also makes up to 18 characters of one, which costs time.
 */
const MAX_NORMALIZED_LENGTH = 4 * MAX_PASSWORD_LENGTH;

/** No password has this hash: its bits are random. Of the shape of a real one, so that to verify it takes as long. */
const DUMMY_HASH = [
  '',
  'argon2id',
  'v=19',
  `m=${PARAMETERS.memoryCost},t=${PARAMETERS.timeCost},p=${PARAMETERS.parallelism}`,
  unpadded(randomBytes(16)),
  unpadded(randomBytes(32)),
].join('$');

/**
 * Hashes and compares passwords, at a bounded cost: a burst of sign-ins must not take the memory of the streams. Clients
 * share the work by network, so that one network cannot keep the others waiting.
 */
@Injectable()
export class PasswordHashing {
  private readonly queue: FairQueue;

  constructor(shedLoad: ShedLoad) {
    const refusal = (): ServiceError => {
      shedLoad.note('password_hashing');
      return tooManyWaiting();
    };
    this.queue = new FairQueue({ atOnce: HASHES_AT_ONCE, mayWait: HASHES_WAITING, refusal });
  }

  /**
   * @param network of the client that asks for the work, as `siteOf` gives it.
   * @throws {ServiceError} `unavailable` when too many hashes wait already; so does {@link verify}.
   */
  async hash(password: string, network = OPERATOR): Promise<string> {
    return this.queue.run(network, () => hash(normalizePassword(password), PARAMETERS));
  }

  /**
   * @param passwordHash `undefined` when there is no such account: the answer is then `false`, after the same work, so
   * that its time does not tell who has an account.
   * @param network see {@link hash}.
   */
  async verify(passwordHash: string | undefined, password: string, network = OPERATOR): Promise<boolean> {
    return this.queue.run(network, () => verify(passwordHash ?? DUMMY_HASH, normalizePassword(password)));
  }
}

/**
 * The one spelling in which a password is measured, kept and compared (NIST SP 800-63B). NFKC, not NFC: the same keys
 * pressed on another system, such as full-width letters of a Japanese keyboard, are then the same password.
 */
export function normalizePassword(password: string): string {
  return password.length > MAX_NORMALIZED_LENGTH ? password : password.normalize('NFKC');
}

function tooManyWaiting(): ServiceError {
  return new ServiceError('unavailable', 'Too many people sign in right now. Try again in a moment.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}
