import { Inject, mixin, NotFoundException, UseGuards, type CanActivate } from '@nestjs/common';
import { CONFIG, type Config } from '../../config/config.js';

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
