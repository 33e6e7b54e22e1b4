import { cutText } from '../../common/text/cut-text.js';
import type { FormProblems } from './field-problems.js';

/** As much of what was entered as is shown again. No valid value is longer. */
const SHOWN_LENGTH = 500;

/** Apart, as each type has attributes of its own. */
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

/** A labelled input that must be filled in, with what is wrong about it below. */
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
