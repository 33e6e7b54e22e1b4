import { type ExecutionContext, SetMetadata, type CustomDecorator, type Type } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import type { Reflector } from '@nestjs/core';
import type { Request } from 'express';

/** Whether the handler of the route has a parameter `@Body()`. */
export function takesBody(context: ExecutionContext): boolean {
  return bodyIndex(context.getClass(), context.getHandler().name) !== undefined;
}

/** Returns the position of the parameter `@Body()` of a handler. */
export function bodyIndex(controller: object, handler: string): number | undefined {
  const parameters = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, handler) ?? {}) as Readonly<
    Record<string, { readonly index: number }>
  >;
  return Object.entries(parameters).find(([key]) => key.startsWith(`${RouteParamtypes.BODY}:`))?.[1].index;
}

/** Whether the request has no body. Some clients name a type nevertheless. */
export function isWithoutBody({ headers }: Request): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': coding } = headers;
  return length === '0' && coding === undefined;
}

const BODY_CLASS = Symbol('BODY_CLASS');

/** Checks bodies in another way than by a class with rules. */
export interface BodyParser<Body extends object> {
  /** `array`: the body is a JSON array. By default, the body is a JSON object. */
  readonly shape?: 'object' | 'array';
  /** The maximum size of the body. By default 4 MiB. */
  readonly maxBytes?: number;
  /**
   * Returns the value of the route's `@Body()`.
   *
   * @param body a JSON object, or an array as `shape` says. Its values may be anything.
   * @param ignore names a member that has no effect. The response names it in `X-Ignored-Parameters`.
   * @throws {ServiceError} `invalid_request`.
   */
  parse(body: Readonly<Record<string, unknown>>, ignore: (member: string) => void): Body | Promise<Body>;
}

export type BodyType = Type<object> | BodyParser<object>;

/**
 * Names the class of the route's `@Body()`, so that the body is validated when it is read: before the guards that need a valid
 * body. Without the decorator, the body is validated afterwards, as a parameter of the handler.
 */
export const BodyClass = (type: BodyType): CustomDecorator<symbol> => SetMetadata(BODY_CLASS, type);

export function bodyClassOf(reflector: Reflector, context: ExecutionContext): BodyType | undefined {
  return reflector.getAllAndOverride<BodyType | undefined>(BODY_CLASS, [context.getHandler(), context.getClass()]);
}

export function isBodyParser(type: BodyType): type is BodyParser<object> {
  return typeof type === 'object';
}

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
