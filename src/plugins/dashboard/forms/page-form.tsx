import type { ComponentChildren } from 'preact';
import { cutText } from '../../../plugin-api/core/common.js';
import { waitingTime } from '../numbers-and-times.js';
import { requestPath } from '../paths.js';
import type { FormProblems } from './form-problems.js';

/** The maximum length of an entered value that the form shows again, in characters. No valid value is longer. */
const SHOWN_LENGTH = 500;

interface LabeledField {
  readonly label: string;
  readonly name: string;
  /** A sentence below the field. */
  readonly hint?: string;
}

/** A field in one line. It must have a value, except in a search and if it is optional. */
interface TextField extends LabeledField {
  readonly type: 'text' | 'email' | 'password' | 'search' | 'date';
  readonly value?: string | undefined;
  readonly maxLength?: number;
  readonly autoComplete?: string;
  readonly placeholder?: string;
  /** Values that the browser offers. The user can enter others. */
  readonly suggestions?: readonly string[];
  readonly isOptional?: boolean;
}

/** A list from which the user chooses one option. */
interface SelectField extends LabeledField {
  readonly type: 'select';
  /** The label of each option, by the value of the option. */
  readonly options: Readonly<Record<string, string>>;
  /** A value that is no option becomes one. */
  readonly value: string | undefined;
}

/** Browsers send the field, with the value `yes`, only when the box is checked. */
interface CheckboxField extends LabeledField {
  readonly type: 'checkbox';
  readonly checked: boolean;
}

/** The user does not see the field. A field without a value is left out. */
interface HiddenField {
  readonly type: 'hidden';
  readonly name: string;
  readonly value: string | number | undefined;
}

/**
 * A field of a form.
 *
 * @experimental
 * @since 1.0
 */
export type FormField = TextField | SelectField | CheckboxField | HiddenField;

export interface PageFormProps {
  /** The path that receives the form. */
  readonly action: string;
  /** `post` is the default. `get` is for lists: their address has the values of the fields. */
  readonly method?: 'get' | 'post';
  readonly heading?: string;
  /** A text above the fields. */
  readonly text?: string;
  readonly fields?: readonly FormField[];
  /** Optional fields below the others, which the user unfolds. */
  readonly more?: { readonly summary: string; readonly fields: readonly FormField[] };
  /** The text of the button. */
  readonly button: string;
  /** `quiet` for a button that is not the main action of the page, `danger` for what cannot be taken back. */
  readonly tone?: 'quiet' | 'danger';
  /** `row` has the fields and the button in one line, `wide` has the first field as wide as possible. */
  readonly layout?: 'row' | 'wide';
  /** The account for which the form is made. A session of another account cannot send the form. */
  readonly accountId?: string;
  /** Tells password managers which account a password belongs to. */
  readonly username?: string;
  /** The path that the link "Cancel" leads to. */
  readonly cancel?: string;
  /** The id of the element that describes the button. */
  readonly describedBy?: string;
  /** Whether the script of the page sends the form at most once. */
  readonly once?: boolean;
  readonly problems?: FormProblems | undefined;
}

/**
 * A form of a page: labeled fields with their problems, and a button.
 *
 * @experimental
 * @since 1.0
 *
 * @example h(PageForm, { action: '/prompts', fields: [{ label: 'Name', name: 'name', type: 'text' }], button: 'Keep' })
 */
export function PageForm(props: PageFormProps) {
  const { action, method = 'post', heading, text, fields = [], more, layout } = props;
  const { accountId, username, problems, cancel } = props;
  const button = (
    <button class={props.tone} aria-describedby={props.describedBy}>
      {props.button}
    </button>
  );
  const content = (
    <>
      {fields.map((field) => (
        <Field key={field.name} field={field} problems={problems} />
      ))}
      {more === undefined ? null : <MoreFields {...more} problems={problems} />}
      {cancel === undefined ? (
        button
      ) : (
        <div class="actions">
          {button}
          <a href={cancel}>Cancel</a>
        </div>
      )}
    </>
  );
  const form = (
    <form method={method} action={action} class={layout === 'row' ? 'filter-form' : undefined} data-once={props.once}>
      {heading === undefined ? null : <h2>{heading}</h2>}
      {text === undefined ? null : <p>{text}</p>}
      <FormFailure problems={problems} fields={[...fields, ...(more?.fields ?? [])]} />
      {username === undefined ? null : (
        <input hidden type="text" name="username" value={username} autoComplete="username" readOnly />
      )}
      {accountId === undefined ? null : <input type="hidden" name="account_id" value={accountId} />}
      {layout === 'wide' ? <div class="fields">{content}</div> : content}
      {problems?.requestId === undefined ? null : (
        <p class="fine">
          Request ID: <a href={requestPath(problems.requestId)}>{problems.requestId}</a>
        </p>
      )}
    </form>
  );
  return method === 'get' && fields.length > 0 ? <search>{form}</search> : form;
}

interface MoreFieldsProps extends NonNullable<PageFormProps['more']> {
  readonly problems: FormProblems | undefined;
}

/** Is unfolded if a field has a problem. */
function MoreFields({ summary, fields, problems }: MoreFieldsProps) {
  return (
    <details class="more" open={fields.some(({ name }) => problems?.byField.has(name))}>
      <summary>{summary}</summary>
      <div>
        {fields.map((field) => (
          <Field key={field.name} field={field} problems={problems} />
        ))}
      </div>
    </details>
  );
}

function Field({ field, problems }: { readonly field: FormField; readonly problems: FormProblems | undefined }) {
  const { name } = field;
  if (field.type === 'hidden') {
    return field.value === undefined ? null : <input type="hidden" name={name} value={field.value} />;
  }
  const problem = problems?.byField.get(name);
  const texts = [['problem', problem] as const, ['hint', field.hint] as const];
  const below = texts.filter(([, text]) => text !== undefined);
  const common = {
    id: name,
    name,
    'aria-invalid': problem === undefined ? undefined : ('true' as const),
    'aria-describedby': below.map(([kind]) => `${name}-${kind}`).join(' ') || undefined,
    autoFocus: problems?.byField.keys().next().value === name,
  };
  return (
    <div>
      {field.type === 'checkbox' ? (
        <label class="checkbox">
          <input type="checkbox" {...common} value="yes" checked={field.checked} />
          {field.label}
        </label>
      ) : (
        <>
          <label for={name}>{field.label}</label>
          {field.type === 'select' ? (
            <select {...common}>{optionsOf(field)}</select>
          ) : (
            <input {...common} {...inputOf(field)} />
          )}
        </>
      )}
      {'suggestions' in field ? <Suggestions field={field} /> : null}
      {below.map(([kind, text]) => (
        <small key={kind} class={kind} id={`${name}-${kind}`}>
          {text}
        </small>
      ))}
    </div>
  );
}

function inputOf({ type, name, value, maxLength, autoComplete, placeholder, isOptional = false, ...field }: TextField) {
  return {
    // The JSX types give each type of an input its own attributes. All types here have those of a text.
    type: type as 'text',
    value: value && cutText(value, SHOWN_LENGTH),
    maxLength,
    autoComplete,
    placeholder,
    list: field.suggestions && suggestionsId(name),
    required: type !== 'search' && !isOptional,
  };
}

function Suggestions({ field: { name, suggestions = [] } }: { readonly field: TextField }) {
  return (
    <datalist id={suggestionsId(name)}>
      {suggestions.map((value) => (
        <option key={value} value={value} />
      ))}
    </datalist>
  );
}

const suggestionsId = (name: string): string => `${name}-suggestions`;

function optionsOf({ options, value = '' }: SelectField): ComponentChildren {
  const all = value in options ? options : { [value]: value, ...options };
  return Object.entries(all).map(([option, text]) => (
    <option key={option} value={option} selected={option === value}>
      {text}
    </option>
  ));
}

/** Shows the problem of a form, and when to try again. Shows nothing if each problem is shown below its field. */
function FormFailure({ problems, fields }: { problems: FormProblems | undefined; fields: readonly FormField[] }) {
  if (problems === undefined) return null;
  const { error, byField } = problems;
  const visible = new Set(fields.filter(({ type }) => type !== 'hidden').map(({ name }) => name));
  const elsewhere = [...byField].filter(([field]) => !visible.has(field)).map(([, message]) => message);
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

/** A field in which the user chooses a password. */
export const NEW_PASSWORD = {
  label: 'Password',
  name: 'password',
  type: 'password',
  autoComplete: 'new-password',
  hint: 'At least 8 characters. A few random words work well.',
} as const;
