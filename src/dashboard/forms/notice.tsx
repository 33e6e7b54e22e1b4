import type { ComponentChildren } from 'preact';
import { waitingTime } from '../waiting-time.js';
import type { FormProblems } from './field-problems.js';

/** Tells that something was done. */
export function Done({ children }: { readonly children: ComponentChildren }) {
  return (
    <div class="notice good" role="status">
      {children}
    </div>
  );
}

/** Tells what is wrong with a form, where it is not wrong in its fields alone, and when to try again. */
export function FormFailure({ problems, fields }: { problems: FormProblems | undefined; fields: readonly string[] }) {
  if (problems === undefined) return null;
  const { error, byField } = problems;
  const elsewhere = [...byField].filter(([field]) => !fields.includes(field)).map(([, message]) => message);
  if (byField.size > 0 && elsewhere.length === 0) return null;
  const { message, retryAfterSeconds } = error;
  const [what, when] = partsOf(message);
  const wait = retryAfterSeconds === undefined ? '' : ` Try again in ${waitingTime(retryAfterSeconds)}.`;
  return (
    <div class="notice bad" role="alert">
      {elsewhere.length > 0 ? elsewhere.join(' ') : `${what}${wait || when}`}
    </div>
  );
}

/** What is wrong, and when to try again, where the last sentence of the message says so. */
function partsOf(message: string): [what: string, when: string] {
  const start = message.lastIndexOf(' Try again');
  return start === -1 ? [message, ''] : [message.slice(0, start), message.slice(start)];
}
