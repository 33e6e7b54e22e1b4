import { SetMetadata, type CustomDecorator, type ExecutionContext, type Type } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';

const BODY_CLASS = Symbol('BODY_CLASS');

/**
 * Names the class of the route's `@Body()`, so that the body is validated when it is read: before the guards that need a valid
 * body. Without the decorator, the body is validated afterwards, as a parameter of the handler.
 */
export const BodyClass = (type: Type<object>): CustomDecorator<symbol> => SetMetadata(BODY_CLASS, type);

export function bodyClassOf(reflector: Reflector, context: ExecutionContext): Type<object> | undefined {
  return reflector.getAllAndOverride<Type<object> | undefined>(BODY_CLASS, [context.getHandler(), context.getClass()]);
}
