import { readFileSync } from 'node:fs';
import { MAX_PASSWORD_LENGTH, normalizePassword } from './password-hashing.js';

const MIN_LENGTH = 8;

/** Names of this service, which attackers try first. Letters and digits only. */
const NAMES_OF_THE_SERVICE = ['chatstreamingservice', 'chatstreaming', 'chatservice'];
const ONE_CHARACTER_REPEATED = /^(.)\1*$/su;

/** One text of about 90 KB. A Set of its lines would take ten times the memory, and the list is rarely used. */
const COMMONEST = `\n${readFileSync(new URL('./common-passwords.txt', import.meta.url), 'utf8').replace(/^#.*\n/gm, '')}`;

/**
 * Checks a new password, following NIST SP 800-63B. The length counts in characters, not bytes, and the maximum leaves room
 * for sentences. Common passwords are refused. There are no rules about kinds of characters.
 *
 * @param email in the form that `normalizeEmail` returns.
 * @returns the problem in words, or `undefined` when the password is acceptable.
 */
export function passwordProblem(password: string, email: string): string | undefined {
  const normalized = normalizePassword(password);
  const length = Array.from(normalized).length;
  if (length < MIN_LENGTH || length > MAX_PASSWORD_LENGTH) {
    return `The password must have ${MIN_LENGTH} to ${MAX_PASSWORD_LENGTH} characters.`;
  }
  const lower = normalized.toLowerCase();
  if (isCommon(lower)) return 'This password is too common. Choose another.';
  if (lower === email || lower === email.split('@', 1)[0]) return 'The password must not be the email address.';
  if (NAMES_OF_THE_SERVICE.includes(lower.replace(/[^\p{L}\p{N}]/gu, ''))) {
    return 'The password must not be the name of the service.';
  }
  return undefined;
}

function isCommon(lower: string): boolean {
  return ONE_CHARACTER_REPEATED.test(lower) || (!lower.includes('\n') && COMMONEST.includes(`\n${lower}\n`));
}
