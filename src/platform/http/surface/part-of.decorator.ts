import { SetMetadata } from '@nestjs/common';
import type { BuiltInPlugin } from '../../config/config.js';
import type { PluginsInUse } from './plugins-in-use.js';

const PART_OF = 'part-of-plugin';

/** Marks a controller, or a module with all its controllers, as a part of a built-in plugin, which `PLUGINS` can leave out. */
export const PartOf = (plugin: BuiltInPlugin): ClassDecorator => SetMetadata(PART_OF, plugin);

/** Whether a controller or a module is a part of a plugin that is not in use. */
export function isPartLeftOut(type: NewableFunction, plugins: PluginsInUse): boolean {
  const plugin = Reflect.getMetadata(PART_OF, type) as BuiltInPlugin | undefined;
  return plugin !== undefined && !plugins.has(plugin);
}
