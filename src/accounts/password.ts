import { randomBytes } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';

export const MIN_PASSWORD_LENGTH = 8;
export const MAX_PASSWORD_LENGTH = 1024;

/** OWASP's parameters for Argon2id, which is the package's default algorithm. */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** No password has this hash: its bits are random. Of the shape of a real one, so that to verify it takes as long. */
const DUMMY_HASH = [
  '',
  'argon2id',
  'v=19',
  `m=${PARAMETERS.memoryCost},t=${PARAMETERS.timeCost},p=${PARAMETERS.parallelism}`,
  unpadded(randomBytes(16)),
  unpadded(randomBytes(32)),
].join('$');

export async function hashPassword(password: string): Promise<string> {
  return hash(password, PARAMETERS);
}

/**
 * @param passwordHash `undefined` when there is no such account: the answer is then `false`, after the same work, so
 * that its time does not tell who has an account.
 */
export async function verifyPassword(passwordHash: string | undefined, password: string): Promise<boolean> {
  return verify(passwordHash ?? DUMMY_HASH, password);
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}
