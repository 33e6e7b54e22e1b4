import type { ExecutionContext } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
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
