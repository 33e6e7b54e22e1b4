import type { INestApplicationContext } from '@nestjs/common';

/** The options of a command by name, without the dashes. Required options always have a value. */
export type Options<Required extends string = string, Optional extends string = string> = {
  readonly [name in Required]: string;
} & { readonly [name in Optional]?: string };

/** One command of `npm run admin`. */
export interface Command {
  /** The name as the operator types it. */
  readonly name: string;
  /** Options by name, each with the placeholder for its value in the usage text. */
  readonly required: Readonly<Record<string, string>>;
  readonly optional: Readonly<Record<string, string>>;
  /** Options without a value. A flag on the command line has the value `true` in `options`. */
  readonly flags?: readonly string[];
  /** Whether the command may create the database: the first account can be created before the first start. */
  readonly createsDatabase?: boolean;
  /** Whether the command sets a password. `run` gets the password as the option `password`, from any kind of input. */
  readonly setsPassword?: boolean;
  /** @returns a value to print as JSON, a text to print unchanged, or the pieces of such a text. */
  run(app: INestApplicationContext, options: Options): Promise<unknown>;
}

/** Gives `run` the types of its options. The caller of `run` checks that the required options have a value. */
export function command<R extends string = never, O extends string = never, F extends string = never>(definition: {
  readonly name: string;
  readonly required?: Readonly<Record<R, string>>;
  readonly optional?: Readonly<Record<O, string>>;
  readonly flags?: readonly F[];
  readonly createsDatabase?: boolean;
  readonly setsPassword?: boolean;
  run(app: INestApplicationContext, options: Options<R, O | F | 'password'>): Promise<unknown>;
}): Command {
  return { required: {}, optional: {}, ...definition };
}
