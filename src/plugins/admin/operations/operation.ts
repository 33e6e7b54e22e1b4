import type { Abstract, Type } from '@nestjs/common';
import type { CascadeOptions, AccountReference, ChangeAuthor } from '../../../plugin-api/core/accounts.js';
import { type ErrorDetail, ServiceError, type Clock } from '../../../plugin-api/core/common.js';
import type { Config } from '../../../plugin-api/core/config.js';
import type { TimePosition } from '../../../plugin-api/core/database.js';

/** The query of a request as Express parses it. */
export type QueryValues = Readonly<Record<string, string | string[] | undefined>>;

/** The parameters of every list. */
const PAGING = ['limit', 'cursor'] as const;
const MAX_LENGTH = 2_000;
/** PostgreSQL accepts no NUL character in a text. */
const UNUSABLE = /[\p{Cc}\p{Cs}]/u;

/**
 * Reads the parameters of the query of a list.
 *
 * @param filters the parameters in addition to those of every list, as names.
 * @throws {ServiceError} `invalid_request` for a parameter that is unknown, appears twice, or is no short line of text.
 */
export function parametersIn<Filter extends string = never>(
  query: QueryValues,
  filters?: Readonly<Record<Filter, string>>,
): { readonly [name in Filter | (typeof PAGING)[number]]?: string } {
  const names: readonly string[] = [...PAGING, ...Object.keys(filters ?? {})];
  for (const [name, value] of Object.entries(query)) {
    if (!names.includes(name)) throw invalidParameter(name, 'is not a known parameter');
    if (typeof value !== 'string') throw invalidParameter(name, 'appears twice');
    if (value.length > MAX_LENGTH) throw invalidParameter(name, `must not be longer than ${MAX_LENGTH} characters`);
    if (UNUSABLE.test(value)) throw invalidParameter(name, 'must be one line of text');
  }
  return query as { readonly [name in Filter | (typeof PAGING)[number]]?: string };
}

/**
 * Checks that a parameter has one of some values.
 *
 * @throws {ServiceError} `invalid_request`
 */
export function oneOf<T extends string>(value: string | undefined, field: string, values: readonly T[]): T | undefined {
  if (value === undefined) return undefined;
  const found = values.find((each) => each === value);
  if (found === undefined) throw invalidParameter(field, `must be one of ${values.join(', ')}`);
  return found;
}

/** Creates the error for a parameter of the query. The name may be text of the caller. */
function invalidParameter(name: string, message: string): ServiceError {
  const detail: ErrorDetail = { field: name.slice(0, 100), message };
  return new ServiceError('invalid_request', `The query is invalid: ${detail.field} ${message}.`, {
    details: [detail],
  });
}

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;
const BASE64URL = /^[\w-]+$/;
const ISO_LENGTH = '2026-01-01T00:00:00.000Z'.length;

/** One page of a list, as the API sends it. */
export interface ListPage<T> {
  readonly data: readonly T[];
  /** The `cursor` of the next page. `null`: this is the last page. */
  readonly next_cursor: string | null;
}

/** @throws {ServiceError} `invalid_request` for a text that is not a number from 1 to 200. */
export function limitIn(text: string | undefined): number {
  if (text === undefined) return DEFAULT_LIMIT;
  const limit = Number(text);
  if (/^\d{1,3}$/.test(text) && limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw invalidParameter('limit', `must be a whole number from 1 to ${MAX_LIMIT}`);
}

/** Returns a page whose cursor holds the position after which the next page begins. */
export function pageOf<T>(data: readonly T[], next: readonly string[] | undefined): ListPage<T> {
  return { data, next_cursor: next === undefined ? null : cursorOf(next) };
}

/** As {@link pageOf}, for a list by time. */
export function pageByPosition<T>(data: readonly T[], next: TimePosition | undefined): ListPage<T> {
  return pageOf(data, next && [next.time, next.id]);
}

/**
 * Reads the position of a list by time.
 *
 * @throws {ServiceError} `invalid_request` for a text that is no cursor of such a list.
 */
export function positionIn(cursor: string | undefined): TimePosition | undefined {
  const [time = '', id = ''] = valuesIn(cursor, 2) ?? [];
  if (cursor === undefined) return undefined;
  // Other times do not sort as texts.
  if (time.length === ISO_LENGTH && !Number.isNaN(Date.parse(time))) return { time, id };
  throw invalidCursor();
}

/**
 * Reads the values that a cursor holds.
 *
 * @throws {ServiceError} `invalid_request` for a text that is no cursor with this number of values.
 */
export function valuesIn(cursor: string | undefined, count: number): readonly string[] | undefined {
  if (cursor === undefined) return undefined;
  const values = parsed(cursor);
  const isPosition = Array.isArray(values) && values.length === count && values.every(isUsable);
  if (!isPosition) throw invalidCursor();
  return values;
}

function cursorOf(values: readonly string[]): string {
  return Buffer.from(JSON.stringify(values)).toString('base64url');
}

function parsed(cursor: string): unknown {
  if (!BASE64URL.test(cursor)) return undefined;
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown;
  } catch {
    return undefined;
  }
}

function isUsable(value: unknown): value is string {
  return typeof value === 'string' && !UNUSABLE.test(value);
}

function invalidCursor() {
  return invalidParameter('cursor', 'must be the next_cursor of an earlier page');
}

/** The parameters of an operation that ends an operator or an operator key, with their descriptions. */
export const CASCADE_PARAMETERS = {
  keep_made:
    'Whether the operator keys, operators and open links that the operator or the operator key has made stay. By default they end.',
  end_operators:
    'Whether people whom people have made operators become members, too, and what they have made ends. By default they stay operators.',
} as const;

/** @throws {ServiceError} `invalid_request` for an unknown parameter, and for a value other than `true` or `false`. */
export function cascadeInQuery(query: QueryValues): CascadeOptions {
  for (const [name, value] of Object.entries(query)) {
    if (!Object.hasOwn(CASCADE_PARAMETERS, name)) throw invalidParameter(name, 'is not a known parameter');
    if (value !== 'true' && value !== 'false') throw invalidParameter(name, 'must be true or false');
  }
  return { keepMade: query['keep_made'] === 'true', endOperators: query['end_operators'] === 'true' };
}

/** What creates something once. */
export interface Creation<T> {
  /** Returns what an earlier request has created, without its secret. `undefined`: there is nothing with this id. */
  find(id: string): Promise<T | undefined>;
  create(id: string): Promise<T>;
}

/** What every caller of an operation has: the API and the admin command. */
export interface OperationInput<Body = unknown> {
  /** Returns a service of the application. */
  get<T>(token: Type<T> | Abstract<T> | symbol): T;
  /** The account of the path, or of `--email`. @throws {ServiceError} `not_found` for a text that is no id. */
  readonly account: AccountReference;
  /** The id in the path that is not of an account, or `--id`. */
  readonly id: string;
  readonly body: Body;
  /** What happens to what an operator or an operator key has made. @throws {ServiceError} `invalid_request` */
  readonly cascade: CascadeOptions;
  readonly author: ChangeAuthor;
  /** Creates something, or returns what an earlier request with the same `Idempotency-Key` has created. */
  once<T>(creation: Creation<T>): Promise<T>;
}

/** The input of an operation that only the API has. */
export interface ApiInput<Body = unknown> extends OperationInput<Body> {
  /** The id of the account in the path. @throws {ServiceError} `not_found` for a text that is no id. */
  readonly account: { readonly id: string };
  readonly query: QueryValues;
  readonly now: Clock;
  /** The id of the operator key. */
  readonly operatorId: string;
  /** Returns the link to a page, for other people. */
  linkTo(path: string): string;
}

/**
 * An operation on the whole service. The routes of the API, their entries in the OpenAPI document and the admin commands follow
 * from it. An operator key needs the scope `write` for every method except `GET`.
 */
export interface Operation<Input = ApiInput<never>, Result = unknown> {
  /** The `operationId` in the OpenAPI document. */
  readonly id: string;
  /** The method, and the path below `/api/v1/admin`. */
  readonly route: `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} ${string}`;
  readonly summary: string;
  readonly description?: string;
  /** The status of the successful response. By default 200, or 204 without an answer. */
  readonly status?: 201;
  /** The class of the body of the request. */
  readonly body?: Type<object>;
  /** The schema of the successful response. */
  readonly answer?: Type<object>;
  /** For an operation that returns a list in pages: the filters in the query in addition to those of every list, with their descriptions. */
  readonly filters?: Readonly<Record<string, string>>;
  /** Whether the query has the members of `cascade`. */
  readonly takesCascade?: true;
  /** Whether the operation takes an `Idempotency-Key`. */
  readonly isIdempotent?: true;
  /** The operation exists only with such a configuration. */
  readonly condition?: (config: Config) => boolean;
  run(input: Input): Promise<Result>;
  /** Returns the result as the API sends it. By default the result itself. */
  show?(result: Result): unknown;
}

/** Gives `run` and `show` the types of an operation. */
export function operation<Input, Result>(definition: Operation<Input, Result>): Operation<Input, Result> {
  return definition;
}

export const withPasswords = ({ passwords }: Config): boolean => passwords === 'on';
