import { readFileSync } from 'node:fs';
import { MAX_PASSWORD_LENGTH, normalizePassword } from './password-hashing.js';

const MIN_LENGTH = 8;

/** Words that whoever guesses here tries first, in letters and digits only. */
const NAMES_OF_THE_SERVICE = ['chatstreamingservice', 'chatstreaming', 'chatservice'];
const ONE_CHARACTER_REPEATED = /^(.)\1*$/su;

/** About 90 KB as one text; a Set of its lines would be ten times that, for a question that is seldom asked. */
const COMMONEST = `\n${readFileSync(new URL('./common-passwords.txt', import.meta.url), 'utf8').replace(/^#.*\n/gm, '')}`;

/**
 * What is wrong with a new password, or `undefined`. After NIST SP 800-63B: length counts (in characters, not bytes, with
 * room for sentences), what everybody tries is refused, and nothing is said about kinds of characters.
 *
 * @param email as `normalizeEmail` gives it.
 */
export function passwordProblem(password: string, email: string): string | undefined {
  const normalized = normalizePassword(password);
  const length = Array.from(normalized).length;
  if (length < MIN_LENGTH || length > MAX_PASSWORD_LENGTH) {
    return `A password has ${MIN_LENGTH} to ${MAX_PASSWORD_LENGTH} characters.`;
  }
  const lower = normalized.toLowerCase();
  if (isCommon(lower)) return 'This is one of the passwords that everybody tries first. Choose another.';
  if (lower === email || lower === email.split('@', 1)[0]) return 'The password must not be the email address.';
  if (NAMES_OF_THE_SERVICE.includes(lower.replace(/[^\p{L}\p{N}]/gu, ''))) {
    return 'The password must not be the name of the service.';
  }
  return undefined;
}

function isCommon(lower: string): boolean {
  return ONE_CHARACTER_REPEATED.test(lower) || (!lower.includes('\n') && COMMONEST.includes(`\n${lower}\n`));
}
