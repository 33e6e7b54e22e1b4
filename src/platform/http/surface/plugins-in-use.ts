import { Inject, Injectable } from '@nestjs/common';
import { ExtensionPoint, Extensions } from '../../common/extensions/extensions.js';
import { CONFIG, type BuiltInPlugin, type Config } from '../../config/config.js';

/** The plugins of the service that are built in. */
export const BUILT_INS = new ExtensionPoint<{ readonly name: string }>('built-ins');

/** The features of `PLUGINS` that are parts of the core. */
const IN_CORE: readonly string[] = ['audit'] satisfies BuiltInPlugin[];

/** Knows which plugins of the service are built in, and not left out by `PLUGINS`. */
@Injectable()
export class PluginsInUse {
  private readonly names: ReadonlySet<string>;

  constructor(@Inject(CONFIG) { builtInPlugins }: Pick<Config, 'builtInPlugins'>, extensions: Extensions) {
    const builtIn = [...IN_CORE, ...extensions.values(BUILT_INS).map(({ name }) => name)];
    this.names = new Set(builtIn.filter((name) => builtInPlugins.has(name as BuiltInPlugin)));
  }

  has(name: BuiltInPlugin): boolean {
    return this.names.has(name);
  }
}
