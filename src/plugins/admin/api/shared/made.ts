import { applyDecorators } from '@nestjs/common';
import type { MadeOptions } from '../../../../accounts/operator-keys/operator-tree.js';
import { ApiPropertyOptional, ApiQuery } from '../../../../platform/http/open-api/api-decorators.js';
import { Flag, Optional } from './body-rules.js';
import { invalidParameter, type QueryValues } from './list-query.js';

const KEEP =
  'Whether the operator keys, operators and open links that the operator or the operator key has made stay. By default they end.';
const END_OPERATORS =
  'Whether people whom people have made operators become members, too, and what they have made ends. By default they stay operators.';

/** The members of a change that ends an operator or an operator key. */
export class MadeBody {
  @ApiPropertyOptional({ default: false, description: KEEP })
  @Optional()
  @Flag()
  readonly keep_made?: boolean;

  @ApiPropertyOptional({ default: false, description: END_OPERATORS })
  @Optional()
  @Flag()
  readonly end_operators?: boolean;
}

const PARAMETERS: Readonly<Record<string, string>> = { keep_made: KEEP, end_operators: END_OPERATORS };

/** Describes the same members as parameters of the query, for a request without a body. */
export const MadeParameters = (): MethodDecorator =>
  applyDecorators(
    ...Object.entries(PARAMETERS).map(([name, description]) =>
      ApiQuery({ name, required: false, schema: { type: 'boolean', default: false }, description }),
    ),
  );

export function madeIn({ keep_made: keepMade, end_operators: endOperators }: MadeBody): MadeOptions {
  return { keepMade, endOperators };
}

/** @throws {ServiceError} `invalid_request` for an unknown parameter, and for a value other than `true` or `false`. */
export function madeInQuery(query: QueryValues): MadeOptions {
  for (const [name, value] of Object.entries(query)) {
    if (!Object.hasOwn(PARAMETERS, name)) throw invalidParameter(name, 'is not a known parameter');
    if (value !== 'true' && value !== 'false') throw invalidParameter(name, 'must be true or false');
  }
  return { keepMade: query['keep_made'] === 'true', endOperators: query['end_operators'] === 'true' };
}
