import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { BUILT_IN_CATALOG } from '../load-config.js';
import { ConfigFile } from '../sources/config-file.js';
import { Environment } from '../sources/environment.js';
import { placeholdersOf, type Placeholder } from '../sources/interpolation.js';

/** A variable of the environment, or a member of CONFIG_FILE, as its schema describes it. The texts are Markdown. */
export interface ConfigurationMember {
  /** The name of the variable, or the path of the member, such as `models[].routes[].upstream`. */
  readonly name: string;
  readonly accepts: string;
  readonly whenUnset: string;
  readonly effect: string;
}

/** A variable of the environment that the built-in catalog uses. */
export interface CatalogVariable extends Placeholder {
  readonly upstream: string;
  /**
   * What is left out without the variable and its fallback: the whole upstream, or only the routes that name the variable.
   */
  readonly neededBy: 'upstream' | 'route';
}

/** The parts of JSON Schema that the configuration schemas use, and the additional members of these schemas. */
interface MemberSchema {
  readonly type?: string;
  readonly description?: string;
  readonly default?: string | number | boolean | object;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly properties?: Readonly<Record<string, MemberSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: MemberSchema | boolean;
  readonly items?: MemberSchema;
  /** Replaces the description of the values that is derived from the type. */
  readonly accepts?: string;
  /** Replaces the default. */
  readonly unset?: string;
}

/** Returns every variable that the service itself reads, in the order of the schema. */
export function environmentVariables(): ConfigurationMember[] {
  return [...membersOf(schemaOf(Environment), '')];
}

/** Returns every member of CONFIG_FILE. Each member comes before the members inside it. */
export function configFileMembers(): ConfigurationMember[] {
  return [...membersOf(schemaOf(ConfigFile), '')];
}

/** Returns the variables of the built-in catalog, by upstream and in the order of the file. */
export function catalogVariables(): CatalogVariable[] {
  const { upstreams, models } = parse(readFileSync(BUILT_IN_CATALOG, 'utf8')) as z.input<typeof ConfigFile>;
  const routes = models.flatMap((model) => model.routes);
  return Object.entries(upstreams).flatMap(([upstream, entry]) => [
    ...variablesIn(entry).map((variable) => ({ upstream, neededBy: 'upstream' as const, ...variable })),
    ...variablesIn(routes.filter((route) => route.upstream === upstream)).map((variable) => ({
      upstream,
      neededBy: 'route' as const,
      ...variable,
    })),
  ]);
}

function variablesIn(entry: object): Placeholder[] {
  return [...new Map(placeholdersOf(JSON.stringify(entry)).map((variable) => [variable.name, variable])).values()];
}

function schemaOf(schema: z.ZodType): MemberSchema {
  return z.toJSONSchema(schema, { io: 'input' }) as MemberSchema;
}

function* membersOf(schema: MemberSchema, prefix: string): Generator<ConfigurationMember> {
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    const path = `${prefix}${name}`;
    yield {
      name: path,
      accepts: valuesOf(member),
      whenUnset: schema.required?.includes(name) === true ? 'required' : defaultOf(member),
      effect: member.description ?? '',
    };
    yield* membersOf(member, `${path}.`);
    if (member.items !== undefined) yield* membersOf(member.items, `${path}[].`);
    const { additionalProperties } = member;
    if (typeof additionalProperties === 'object') yield* membersOf(additionalProperties, `${path}.<name>.`);
  }
}

function valuesOf(schema: MemberSchema): string {
  if (schema.accepts !== undefined) return schema.accepts;
  if (schema.enum !== undefined) return schema.enum.map(code).join(', ');
  switch (schema.type) {
    case 'integer':
      return `a whole number, ${rangeOf(schema)}`;
    case 'number':
      return `a number, ${rangeOf(schema)}`;
    case 'boolean':
      return '`true`, `false`';
    case 'array':
      return 'a list';
    case 'object':
      return schema.properties === undefined ? 'entries by name' : 'the members below';
    default:
      return 'a text';
  }
}

function rangeOf({ minimum = 0, maximum = Number.MAX_SAFE_INTEGER }: MemberSchema): string {
  return maximum === Number.MAX_SAFE_INTEGER ? `${minimum} or more` : `${minimum} to ${maximum}`;
}

function defaultOf(schema: MemberSchema): string {
  if (schema.unset !== undefined) return schema.unset;
  if (schema.default === undefined) return 'none';
  if (typeof schema.default !== 'object') return code(String(schema.default));
  return schema.properties === undefined ? 'none' : 'the defaults of its members';
}

function code(text: string): string {
  return `\`${text}\``;
}
