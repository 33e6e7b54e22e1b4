import { cutText } from '../../common/text/cut-text.js';
import type { FormProblems } from './field-problems.js';

/** The maximum length of an entered value that the form shows again, in characters. No valid value is longer. */
const SHOWN_LENGTH = 500;

/** Separate objects, because the JSX types give each input type its own attributes. */
const TYPES = { text: { type: 'text' }, email: { type: 'email' }, password: { type: 'password' } } as const;

interface FieldProps {
  readonly label: string;
  readonly name: string;
  readonly type: keyof typeof TYPES;
  readonly value?: string;
  readonly maxLength?: number;
  readonly autoComplete: string;
  readonly hint?: string;
  readonly problems: FormProblems | undefined;
}

/** A required input with a label. The problem of the field is shown below the input. */
export function Field({ label, name, type, value, maxLength, autoComplete, hint, problems }: FieldProps) {
  const problem = problems?.byField.get(name);
  const described = [problem === undefined ? '' : `${name}-problem`, hint === undefined ? '' : `${name}-hint`];
  const isFirstWrong = problems?.byField.keys().next().value === name;
  return (
    <div>
      <label for={name}>{label}</label>
      <input
        id={name}
        name={name}
        {...TYPES[type]}
        value={value && cutText(value, SHOWN_LENGTH)}
        required
        maxLength={maxLength}
        autoComplete={autoComplete}
        aria-invalid={problem === undefined ? undefined : 'true'}
        aria-describedby={described.filter(Boolean).join(' ') || undefined}
        autoFocus={isFirstWrong}
      />
      {problem === undefined ? null : (
        <small class="problem" id={`${name}-problem`}>
          {problem}
        </small>
      )}
      {hint === undefined ? null : (
        <small class="hint" id={`${name}-hint`}>
          {hint}
        </small>
      )}
    </div>
  );
}
