import type { INestApplicationContext } from '@nestjs/common';
import { PasswordHashing } from '../../src/accounts/passwords/password-hashing.js';

/** The password of the accounts that tests create. */
export const PASSWORD = 'correct horse battery';

let known: Promise<string> | undefined;

/** Hashes {@link PASSWORD} only once for accounts that are created without the network of a client: a hash takes 20 ms. */
export function hashUsualPasswordOnce(app: INestApplicationContext): void {
  const passwords = app.get(PasswordHashing, { strict: false });
  const hash = passwords.hash.bind(passwords);
  passwords.hash = (password, network) => {
    if (password !== PASSWORD || network !== undefined) return hash(password, network);
    known ??= hash(password);
    return known;
  };
}
