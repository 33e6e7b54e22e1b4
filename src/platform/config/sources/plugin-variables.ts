import type { Variables } from './interpolation.js';

const PREFIX = 'PLUGIN_';
/** Between the name of the plugin and the names of members. */
const SEPARATOR = '__';

/** A variable of the environment that sets a member of the configuration of a plugin. */
export interface PluginVariable {
  readonly variable: string;
  /** The name of the plugin in the variable, such as `RESPONSE_CACHE`. */
  readonly plugin: string;
  /** The names of the members from the outside in, such as `['keys', 'url']`. */
  readonly path: readonly string[];
  readonly text: string;
}

/** Returns the variables that set members of plugins, such as `PLUGIN_JWT__KEYS__URL`. */
export function pluginVariables(variables: Variables): readonly PluginVariable[] {
  return Object.entries(variables).flatMap(([variable, text]): PluginVariable[] => {
    if (!variable.startsWith(PREFIX) || !variable.includes(SEPARATOR) || !text) return [];
    const [plugin = '', ...members] = variable.slice(PREFIX.length).split(SEPARATOR);
    return [{ variable, plugin, path: members.map((member) => member.toLowerCase()), text }];
  });
}
