import type { PluginVariable } from '../platform/config/sources/plugin-variables.js';
import { checkedOptions, type CheckedOptions, type OptionsSchema } from '../upstreams/contract/options-schema.js';

/** Returns the name of a plugin as variables have it. */
export function variableName(plugin: string): string {
  return plugin.toUpperCase().replaceAll('-', '_');
}

/**
 * Checks the configuration of a plugin with its variables, which replace members of the file. The value of a variable is a text. If the
 * schema does not take the text, it is read as JSON: a number, `true`, a list.
 *
 * @param given the member of the file.
 */
export function checkedWithVariables(
  schema: OptionsSchema | undefined,
  given: unknown,
  variables: readonly PluginVariable[],
  owner: string,
): CheckedOptions {
  const asTexts = checkedOptions(schema, withMembers(given, variables), owner);
  if (variables.length === 0 || asTexts.issues.length === 0) return asTexts;
  const isRefused = (one: PluginVariable): boolean => asTexts.issues.some((issue) => isAbout(issue, one));
  const read = variables.map((one) => (isRefused(one) ? { ...one, value: valueOf(one.text) } : one));
  return checkedOptions(schema, withMembers(given, read), owner);
}

/** Returns an issue about a variable, with the name of the variable. `undefined`: the issue is about the file. */
export function variableIssue(issue: string, variables: readonly PluginVariable[]): string | undefined {
  const found = variables.find((one) => isAbout(issue, one));
  if (found !== undefined) return `${found.variable}${issue.slice(pathOf(found).length)}`;
  const misspelt = variables.find((one) => isMemberIn(issue, one));
  return misspelt && `${misspelt.variable}${issue.slice(issue.indexOf(':'))}`;
}

/** Whether an issue about an object names a member that the variable sets, such as `: Unrecognized key: "max_answer"`. */
function isMemberIn(issue: string, { path }: PluginVariable): boolean {
  const isIn = (depth: number): boolean => issue.startsWith(`${pathOf({ path: path.slice(0, depth) })}: `);
  return path.some((member, depth) => isIn(depth) && issue.includes(`"${member}"`));
}

function isAbout(issue: string, variable: PluginVariable): boolean {
  const path = pathOf(variable);
  return issue.startsWith(path) && /^[.:]/.test(issue.slice(path.length));
}

const pathOf = ({ path }: Pick<PluginVariable, 'path'>): string => path.map((member) => `.${member}`).join('');

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function withMembers(given: unknown, variables: readonly (PluginVariable & { readonly value?: unknown })[]): unknown {
  if (variables.length === 0) return given;
  const options = objectOf(structuredClone(given));
  for (const { path, text, value = text } of variables) {
    let inner = options;
    for (const member of path.slice(0, -1)) inner = inner[member] = objectOf(inner[member]);
    inner[path.at(-1) ?? ''] = value;
  }
  return options;
}

function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
