/**
 * Checks and converts the `options` of an upstream. Every schema of a library with the Standard Schema interface fits, such
 * as a schema of zod 4. The check must be synchronous.
 */
export interface OptionsSchema<Options> {
  readonly '~standard': {
    readonly version: 1;
    validate(value: unknown): OptionsResult<Options> | Promise<OptionsResult<Options>>;
    /** Only for the type checker. */
    readonly types?: { readonly output: Options } | undefined;
  };
}

export type OptionsResult<Options> =
  { readonly value: Options; readonly issues?: undefined } | { readonly issues: readonly OptionsIssue[] };

export interface OptionsIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}
