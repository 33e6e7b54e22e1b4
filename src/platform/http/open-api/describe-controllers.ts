import type { Type } from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/constants.js';
import { MetadataScanner, type ModulesContainer } from '@nestjs/core';
import type * as swagger from '@nestjs/swagger';
import { bodyIndex } from '../body/takes-body.js';
import { IS_PUBLIC } from '../routing/public.decorator.js';
import { describeBodyClass } from './describe-body-class.js';

type Swagger = typeof swagger;

/** Where the library keeps what a controller or a route needs to authenticate. */
const API_SECURITY = 'swagger/apiSecurity';

/**
 * Describes what the controllers of plugins leave out: the credential that a route needs, and the members of bodies. Call this
 * before the document is built. What a decorator of the library says, stays.
 */
export function describeControllers(library: Swagger, modules: ModulesContainer): void {
  const scanner = new MetadataScanner();
  for (const { controllers } of modules.values()) {
    for (const { metatype } of controllers.values()) {
      if (typeof metatype !== 'function') continue;
      const prototype = metatype.prototype as object;
      for (const name of scanner.getAllMethodNames(prototype))
        describeRoute(library, metatype as Type, prototype, name);
    }
  }
}

function describeRoute(library: Swagger, controller: Type, prototype: object, name: string): void {
  const handler = (prototype as Readonly<Record<string, object>>)[name];
  if (handler === undefined || !Reflect.hasMetadata(METHOD_METADATA, handler)) return;
  const has = (key: symbol | string): boolean => [handler, controller].some((on) => Reflect.hasMetadata(key, on));
  if (!has(IS_PUBLIC) && !has(API_SECURITY)) {
    library.ApiBearerAuth()(prototype, name, { value: handler });
  }
  const body = bodyClassOf(controller, prototype, name);
  if (body !== undefined) describeBodyClass(library, body);
}

/** The class of the parameter `@Body()`. */
function bodyClassOf(controller: Type, prototype: object, name: string): Type<object> | undefined {
  const index = bodyIndex(controller, name);
  const types = Reflect.getMetadata('design:paramtypes', prototype, name) as readonly unknown[] | undefined;
  const type = index === undefined ? undefined : types?.[index];
  return typeof type === 'function' && type !== Object ? (type as Type<object>) : undefined;
}
