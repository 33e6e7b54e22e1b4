import type { Abstract, Type } from '@nestjs/common';
import type { AccountReference, CascadeOptions, ChangeAuthor } from '../../../plugin-api/core/accounts.js';
import type { Clock } from '../../../plugin-api/core/common.js';
import type { Config } from '../../../plugin-api/core/config.js';
import type { QueryValues } from './query.js';

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
