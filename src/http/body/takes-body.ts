import type { ExecutionContext } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import type { Request } from 'express';

/** Whether the handler of the route has a parameter `@Body()`. */
export function takesBody(context: ExecutionContext): boolean {
  const parameters = (Reflect.getMetadata(ROUTE_ARGS_METADATA, context.getClass(), context.getHandler().name) ??
    {}) as Readonly<Record<string, unknown>>;
  return Object.keys(parameters).some((parameter) => parameter.startsWith(`${RouteParamtypes.BODY}:`));
}

/** Whether the request has no body and names no type of a body. */
export function isWithoutBody({ headers }: Request): boolean {
  const { 'content-type': type, 'content-length': length = '0', 'transfer-encoding': coding } = headers;
  return type === undefined && length === '0' && coding === undefined;
}
