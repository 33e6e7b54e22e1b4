import { SetMetadata } from '@nestjs/common';
import type { BuiltInPlugin, Config } from '../../config/config.js';

const PART_OF = 'part-of-plugin';

/** Marks a controller, or a module with all its controllers, as a part of a built-in plugin, which `PLUGINS` can leave out. */
export const PartOf = (plugin: BuiltInPlugin): ClassDecorator => SetMetadata(PART_OF, plugin);

/** Whether a controller or a module is a part of a plugin that `PLUGINS` leaves out. */
export function isPartLeftOut(type: NewableFunction, { builtInPlugins }: Config): boolean {
  const plugin = Reflect.getMetadata(PART_OF, type) as BuiltInPlugin | undefined;
  return plugin !== undefined && !builtInPlugins.has(plugin);
}
