import { SetMetadata, type CustomDecorator, type ExecutionContext } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';

const BODY_VALUES = Symbol('BODY_VALUES');

/** The default limit. The validation of this many values takes up to 25 ms. */
const DEFAULT_VALUES = 2_000;

/**
 * Sets the maximum number of values (members, items, objects and arrays) of a JSON body, for a route or for all routes of a
 * controller. The default is 2000.
 *
 * @since 1.0
 *
 * @example
 * ```ts
 * @Post('imports')
 * @BodyValues(50_000)
 * import(@Body() rows: Import): void {}
 * ```
 */
export const BodyValues = (max: number): CustomDecorator<symbol> => SetMetadata(BODY_VALUES, max);

export function maxBodyValues(reflector: Reflector, context: ExecutionContext): number {
  const own = reflector.getAllAndOverride<number | undefined>(BODY_VALUES, [context.getHandler(), context.getClass()]);
  return own ?? DEFAULT_VALUES;
}
