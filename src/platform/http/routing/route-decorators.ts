import {
  SetMetadata,
  type CustomDecorator,
  type ExecutionContext,
  Inject,
  mixin,
  NotFoundException,
  UseGuards,
  type CanActivate,
} from '@nestjs/common';
import type { Reflector } from '@nestjs/core';
import { CONFIG, type Config } from '../../config/config.js';

export const IS_PUBLIC = Symbol('IS_PUBLIC');

/**
 * Opens a route, or all routes of a controller, to everyone. Routes without this decorator need a credential.
 *
 * @since 1.0
 */
export const Public = (): CustomDecorator<symbol> => SetMetadata(IS_PUBLIC, true);

/** Whether a route, or its controller, is `@Public()`. */
export function isPublic(reflector: Pick<Reflector, 'getAllAndOverride'>, route: ExecutionContext): boolean {
  return reflector.getAllAndOverride<boolean | undefined>(IS_PUBLIC, [route.getHandler(), route.getClass()]) === true;
}

export const READS_KEY = Symbol('READS_KEY');

/**
 * Makes a `@Public()` route read the credential of a request that has one, for example to show only what an API key may use. A
 * credential that is invalid or cannot be checked counts as none. On a surface, an invalid credential is refused.
 */
export const ReadsKey = (): MethodDecorator & ClassDecorator => SetMetadata(READS_KEY, true);

/**
 * Marks a route, or all routes of a controller, that exists only with some configurations. Otherwise, it answers like an unknown path.
 *
 * @example @OnlyIf(({ passwords }) => passwords === 'on')
 */
export function OnlyIf(condition: (config: Config) => boolean): ClassDecorator & MethodDecorator {
  class ConfiguredGuard implements CanActivate {
    constructor(@Inject(CONFIG) private readonly config: Config) {}

    canActivate(): boolean {
      if (condition(this.config)) return true;
      throw new NotFoundException();
    }
  }
  return UseGuards(mixin(ConfiguredGuard));
}
