import { RequestMethod, type Type } from '@nestjs/common';
import { HTTP_CODE_METADATA, METHOD_METADATA } from '@nestjs/common/constants.js';
import { MetadataScanner, type ModulesContainer } from '@nestjs/core';
import { getMetadataStorage, ValidationTypes } from 'class-validator';
import type * as swagger from '@nestjs/swagger';
import { bodyIndex } from '../body/body-class.decorator.js';
import { IS_PUBLIC } from '../routing/route-decorators.js';

type Swagger = typeof swagger;

/** Where the library keeps what a controller or a route needs to authenticate. */
const API_SECURITY = 'swagger/apiSecurity';

/** Where the library keeps the responses of a controller or a route, by status. */
const API_RESPONSES = 'swagger/apiResponse';

/**
 * Describes what the controllers of plugins leave out: the credential that a route needs, the members of bodies, and the success. Call this
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
  const statuses = [handler, controller].flatMap((on) =>
    Object.keys((Reflect.getMetadata(API_RESPONSES, on) as object | undefined) ?? {}),
  );
  // The library adds a response only to a route without any, and a route with `@ApiErrors()` has some.
  if (statuses.length > 0 && statuses.every((status) => Number(status) >= 400)) {
    library.ApiResponse({ status: successOf(handler), description: '' })(prototype, name, { value: handler });
  }
  const body = bodyClassOf(controller, prototype, name);
  if (body !== undefined) describeBodyClass(library, body);
}

/** The status of a route that has no `@Res()`. */
function successOf(handler: object): number {
  const isPost = Reflect.getMetadata(METHOD_METADATA, handler) === RequestMethod.POST;
  return (Reflect.getMetadata(HTTP_CODE_METADATA, handler) as number | undefined) ?? (isPost ? 201 : 200);
}

/** The class of the parameter `@Body()`. */
function bodyClassOf(controller: Type, prototype: object, name: string): Type<object> | undefined {
  const index = bodyIndex(controller, name);
  const types = Reflect.getMetadata('design:paramtypes', prototype, name) as readonly unknown[] | undefined;
  const type = index === undefined ? undefined : types?.[index];
  return typeof type === 'function' && type !== Object ? (type as Type<object>) : undefined;
}

type Metadata = ReturnType<ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']>[number];
type Schema = Record<string, unknown>;

/** Where the library keeps the names of the described members of a class. */
const API_MEMBERS = 'swagger/apiModelPropertiesArray';

/** What each rule of class-validator says about a value. */
const RULES: Readonly<Record<string, (constraints: readonly unknown[]) => Schema>> = {
  isString: () => ({ type: 'string' }),
  isEmail: () => ({ type: 'string', format: 'email' }),
  isUrl: () => ({ type: 'string', format: 'uri' }),
  isUuid: () => ({ type: 'string', format: 'uuid' }),
  isNumber: () => ({ type: 'number' }),
  isInt: () => ({ type: 'integer' }),
  isBoolean: () => ({ type: 'boolean' }),
  isIn: ([values]) => ({ enum: values }),
  isEnum: ([, values]) => ({ enum: values }),
  isLength: ([min, max]) => ({ minLength: min, ...(max !== undefined && { maxLength: max }) }),
  minLength: ([min]) => ({ minLength: min }),
  maxLength: ([max]) => ({ maxLength: max }),
  isNotEmpty: () => ({ minLength: 1 }),
  min: ([min]) => ({ minimum: min }),
  max: ([max]) => ({ maximum: max }),
  matches: ([pattern]) => (pattern instanceof RegExp ? { pattern: pattern.source } : {}),
};
/** The rules for a whole array. */
const ARRAY_RULES: Readonly<Record<string, (constraints: readonly unknown[]) => Schema>> = {
  arrayMinSize: ([min]) => ({ minItems: min }),
  arrayMaxSize: ([max]) => ({ maxItems: max }),
};

/** Describes the members of a body class by the rules of class-validator. A class with described members stays as it is. */
function describeBodyClass(library: Swagger, type: Type<object>): void {
  const prototype = type.prototype as object;
  if (Reflect.hasMetadata(API_MEMBERS, prototype)) return;
  const storage = getMetadataStorage();
  const members = storage.groupByPropertyName(storage.getTargetValidationMetadatas(type, '', false, false));
  for (const [member, rules] of Object.entries(members)) {
    const isOptional = rules.some((rule) => rule.type === ValidationTypes.CONDITIONAL_VALIDATION);
    const schema = schemaOf(rules, Reflect.getMetadata('design:type', prototype, member) as unknown);
    (library.ApiProperty as (options: object) => PropertyDecorator)({ ...schema, required: !isOptional })(
      prototype,
      member,
    );
  }
}

function schemaOf(rules: readonly Metadata[], designType: unknown): Schema {
  const named = rules.map(({ name = '', constraints, each }) => ({
    name,
    constraints: (constraints as unknown[] | undefined) ?? [],
    each,
  }));
  const value = Object.assign({}, ...named.map(({ name, constraints }) => RULES[name]?.(constraints) ?? {})) as Schema;
  const isArray = designType === Array || named.some(({ name, each }) => each || name === 'isArray');
  const ofArray = named.map(({ name, constraints }) => ARRAY_RULES[name]?.(constraints) ?? {});
  // A member without a known rule can be any value.
  if (isArray) return Object.assign({ type: 'array', items: value }, ...ofArray) as Schema;
  return Object.keys(value).length === 0 ? { type: 'object', additionalProperties: true } : value;
}
