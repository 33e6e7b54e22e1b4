import { SetMetadata, type CustomDecorator, type ExecutionContext } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';

const IS_FORM = Symbol('IS_FORM');

/**
 * Marks a route that accepts an HTML form (`application/x-www-form-urlencoded`) instead of JSON, and only from pages of
 * this service. `@Body()` is then an object of strings.
 *
 * @since 1.0
 */
export const Form = (): CustomDecorator<symbol> => SetMetadata(IS_FORM, true);

/** Whether the route or its controller is a {@link Form}. */
export function isForm(reflector: Reflector, context: ExecutionContext): boolean {
  return reflector.getAllAndOverride<boolean | undefined>(IS_FORM, [context.getHandler(), context.getClass()]) ?? false;
}
