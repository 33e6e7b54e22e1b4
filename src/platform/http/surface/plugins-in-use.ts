import { Inject, Injectable, SetMetadata, type ModuleMetadata, type Type } from '@nestjs/common';
import { ExtensionPoint, Extensions } from '../../common/extensions/extensions.js';
import { CONFIG, type BuiltInPlugin, type Config } from '../../config/config.js';

/** The plugins of the service that are built in. */
export const BUILT_INS = new ExtensionPoint<{ readonly name: string } & Pick<ModuleMetadata, 'controllers'>>(
  'built-ins',
);

/** The features of `PLUGINS` that are parts of the core. */
const IN_CORE: readonly string[] = ['audit'] satisfies BuiltInPlugin[];

const PART_OF = 'part-of-plugin';

/** Marks a controller as a part of another built-in plugin than its own. `PLUGINS` can leave out each of the two. */
export const PartOf = (plugin: BuiltInPlugin): ClassDecorator => SetMetadata(PART_OF, plugin);

/** Knows which plugins of the service are built in, and not left out by `PLUGINS`. */
@Injectable()
export class PluginsInUse {
  private readonly names: ReadonlySet<string>;

  constructor(
    @Inject(CONFIG) { builtInPlugins }: Pick<Config, 'builtInPlugins'>,
    private readonly extensions: Extensions,
  ) {
    const builtIn = [...IN_CORE, ...extensions.values(BUILT_INS).map(({ name }) => name)];
    this.names = new Set(builtIn.filter((name) => builtInPlugins.has(name as BuiltInPlugin)));
  }

  has(name: BuiltInPlugin): boolean {
    return this.names.has(name);
  }

  /** Whether a controller belongs to a plugin that is not in use, or is marked as a part of one. */
  leavesOut(controller: Type): boolean {
    const owner = this.extensions.values(BUILT_INS).find(({ controllers }) => controllers?.includes(controller));
    const other = Reflect.getMetadata(PART_OF, controller) as string | undefined;
    return [owner?.name, other].some((name) => name !== undefined && !this.names.has(name));
  }
}
