import { SetMetadata, type CustomDecorator, type ExecutionContext } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';

const BODY_VALUES = Symbol('BODY_VALUES');

/** The default limit. The check of this many values against the decorators of a class takes up to 25 ms. */
const USUAL_VALUES = 2_000;

/**
 * Sets the maximum number of members and items of a JSON body, for a route or for all routes of a controller. The default
 * is 2000.
 *
 * @example
 * ```ts
 * @Post('imports')
 * @BodyValues(50_000)
 * import(@Body() rows: Import): void {}
 * ```
 */
export const BodyValues = (most: number): CustomDecorator<symbol> => SetMetadata(BODY_VALUES, most);

export function mostBodyValues(reflector: Reflector, context: ExecutionContext): number {
  const own = reflector.getAllAndOverride<number | undefined>(BODY_VALUES, [context.getHandler(), context.getClass()]);
  return own ?? USUAL_VALUES;
}
