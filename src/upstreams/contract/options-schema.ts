/**
 * Checks and converts the `options` of an upstream, or the configuration of a plugin. Every schema of a library with the Standard Schema interface fits, such
 * as a schema of zod 4. The check must be synchronous.
 */
export interface OptionsSchema<Options = unknown> {
  readonly '~standard': {
    readonly version: 1;
    validate(value: unknown): OptionsResult<Options> | Promise<OptionsResult<Options>>;
    /** Only for the type checker. */
    readonly types?: { readonly output: Options } | undefined;
  };
}

type OptionsResult<Options> =
  { readonly value: Options; readonly issues?: undefined } | { readonly issues: readonly OptionsIssue[] };

interface OptionsIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export interface CheckedOptions {
  readonly options: unknown;
  /** Each with the path inside the options, such as `.keep_alive: must be a string`. */
  readonly issues: readonly string[];
}

/**
 * Checks options by their schema. Missing options are checked as an empty object, so that defaults apply.
 *
 * @param owner who has the options, as the operator reads it, such as `the protocol acme`.
 */
export function checkedOptions(schema: OptionsSchema | undefined, given: unknown, owner: string): CheckedOptions {
  if (schema === undefined) {
    return { options: given, issues: given === undefined ? [] : [`: ${owner} has no options`] };
  }
  const result = schema['~standard'].validate(given ?? {});
  if (result instanceof Promise) throw new Error(`The options schema of ${owner} must be synchronous.`);
  if (result.issues !== undefined) return { options: given, issues: result.issues.map(shown) };
  return { options: result.value, issues: [] };
}

function shown({ path = [], message }: OptionsIssue): string {
  const names = path.map((step) => String(typeof step === 'object' ? step.key : step));
  return `${names.map((name) => `.${name}`).join('')}: ${message}`;
}
