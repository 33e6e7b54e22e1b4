import type { ComponentChildren } from 'preact';
import { waitingTime } from '../waiting-time.js';
import type { FormProblems } from './field-problems.js';

/** Reports that an action succeeded. */
export function Done({ children }: { readonly children: ComponentChildren }) {
  return (
    <div class="notice good" role="status">
      {children}
    </div>
  );
}

/**
 * Shows the problem of a form, and when to try again. Shows nothing if every problem belongs to one of the `fields`,
 * because each field shows its own problem.
 */
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

/** Splits a message into the problem and the final "Try again …" sentence. That sentence is empty if it is missing. */
function partsOf(message: string): [what: string, when: string] {
  const start = message.lastIndexOf(' Try again');
  return start === -1 ? [message, ''] : [message.slice(0, start), message.slice(start)];
}
