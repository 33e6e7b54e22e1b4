import type { Type } from '@nestjs/common';
import { PARAMTYPES_METADATA } from '@nestjs/common/constants.js';
import { VERSION } from '../platform/common/version.js';
import { createdBy, isExtension, type DescribedPlugin } from './chat-plugin.decorator.js';
import { CREATED_EXTENSIONS, SINGLE_EXTENSIONS } from './extension-points.js';
import { NAVIGATION_AUDIENCES } from './page-extensions.js';
import type { Plugin } from './plugin-set.js';
import type { PluginDescription } from './plugin-description.js';

/** `^1`, `^1.2` or `^1.2.3`, as npm writes the versions that are compatible with one. */
const COMPATIBILITY = /^\^(\d+)(?:\.(\d+))?(?:\.(\d+))?$/;
const NAME = /^[a-z][a-z0-9-]*$/;
const PATH = /^\/[\w./-]*$/;
const COMMAND = /^[a-z][a-z-]*(?: [a-z][a-z-]*)*$/;
/** The class of a migration ends with the time of its creation, in milliseconds since 1970: after the year 2020. */
const MIGRATION = /^\w*?1[6-9]\d{11}$/;

/** Every member of a description. The compiler checks that the list is complete. */
const MEMBERS = Object.keys({
  name: 1,
  compatibility: 1,
  config: 1,
  liveConfig: 1,
  tier: 1,
  imports: 1,
  providers: 1,
  controllers: 1,
  exports: 1,
  protocols: 1,
  credentials: 1,
  strategies: 1,
  completionHooks: 1,
  auditSinks: 1,
  usageFeeds: 1,
  modelSources: 1,
  metrics: 1,
  readiness: 1,
  limits: 1,
  limitStore: 1,
  entities: 1,
  migrations: 1,
  errors: 1,
  openApi: 1,
  navigation: 1,
  assets: 1,
  admin: 1,
} satisfies Record<keyof PluginDescription, 1>);

export interface GivenPlugin {
  readonly module: Plugin;
  /** `undefined`: the class has no description. */
  readonly plugin: DescribedPlugin | undefined;
}

/** Returns what is wrong with the plugins of an application, each problem in one line. */
export function pluginProblems(given: readonly GivenPlugin[]): string[] {
  const descriptions = given.flatMap(({ plugin }) => (plugin === undefined ? [] : [plugin.description]));
  return [
    ...given.flatMap(({ module, plugin }) => (plugin === undefined ? [notDescribed(module)] : [])),
    ...descriptions.flatMap((description) =>
      [...problemsOf(description)].map((problem) => `The plugin "${description.name}": ${problem}`),
    ),
    ...problemsBetween(descriptions),
  ];
}

function notDescribed(module: Plugin): string {
  const { name } = 'module' in module ? module.module : module;
  return `The class ${name} in "plugins" has no description: add @ChatPlugin({ name, compatibility, … }) to it.`;
}

function* problemsOf(description: PluginDescription): Generator<string> {
  const {
    name,
    compatibility,
    config,
    liveConfig = false,
    strategies = [],
    navigation = [],
    migrations = [],
    admin,
  } = description;
  if (!NAME.test(name)) yield 'its name must be lower-case letters, digits and hyphens.';
  const incompatible = compatibilityProblem(compatibility);
  if (incompatible !== undefined) yield incompatible;
  if (liveConfig && config === undefined) yield 'liveConfig needs a schema in config.';
  for (const member of Object.keys(description)) {
    if (!MEMBERS.includes(member)) yield `there is no member "${member}" of a description.`;
  }
  for (const member of [...CREATED_EXTENSIONS.keys(), ...SINGLE_EXTENSIONS]) {
    const extensions: readonly unknown[] = [description[member] ?? []].flat();
    if (!extensions.every(isExtension)) {
      yield `${member} must name injectable classes or { useFactory, inject }, because Nest creates the objects.`;
    }
  }
  for (const type of createdClasses(description)) {
    if (type.length === 0 || Reflect.hasMetadata(PARAMTYPES_METADATA, type)) continue;
    yield `Nest injects nothing into the class ${type.name}: add @Injectable() to it, and compile it with emitDecoratorMetadata.`;
  }
  for (const { strategyName, name: type } of strategies) {
    if (!strategyName) yield `the strategy ${type} needs a static "strategyName".`;
  }
  for (const { path, label, audience = 'everyone' } of navigation) {
    if (!PATH.test(path) || label === '')
      yield 'an entry of navigation needs a label, and a path that begins with "/".';
    if (!NAVIGATION_AUDIENCES.includes(audience))
      yield `the audience of the navigation entry "${label}" must be one of ${NAVIGATION_AUDIENCES.join(', ')}.`;
  }
  for (const { name: migration } of migrations) {
    if (MIGRATION.test(migration)) continue;
    yield `the class name of the migration ${migration} must end with the time of its creation, such as AddPrompts${Date.now()}.`;
  }
  for (const type of admin?.commands ?? []) {
    if (!COMMAND.test(type.command.name)) yield `the command ${type.name} needs a name such as "prompts list".`;
  }
}

/** The classes whose objects Nest creates. */
function createdClasses(description: PluginDescription): readonly Type[] {
  const { providers = [], controllers = [] } = description;
  const extensions = [...createdBy(description)].flatMap(([, ofMember]): readonly unknown[] => ofMember);
  return [...providers, ...controllers, ...extensions].filter((type): type is Type => typeof type === 'function');
}

function* problemsBetween(descriptions: readonly PluginDescription[]): Generator<string> {
  for (const member of SINGLE_EXTENSIONS) {
    const owners = descriptions.filter((description) => description[member] !== undefined);
    if (owners.length > 1) yield `More than one plugin has ${member}: ${owners.map(({ name }) => name).join(', ')}.`;
  }
  const all = <T>(list: (description: PluginDescription) => readonly T[] | undefined): T[] =>
    descriptions.flatMap((description) => [...(list(description) ?? [])]);
  const names: Readonly<Record<string, readonly string[]>> = {
    'the name': descriptions.map(({ name }) => name),
    'the strategy': ['bearer', 'web-session', ...all((d) => d.strategies).map((type) => type.strategyName)],
    'the migration': all((d) => d.migrations).map(({ name }) => name),
    'the error': all((d) => d.errors).map(({ code }) => code),
    'the navigation path': all((d) => d.navigation).map(({ path }) => path),
    'the command': all((d) => d.admin?.commands).map(({ command }) => command.name),
  };
  for (const [what, given] of Object.entries(names)) {
    for (const name of new Set(given.filter((each, index) => given.indexOf(each) !== index)))
      yield `Two plugins, or two extensions of one plugin, have ${what} "${name}".`;
  }
}

/** Returns what is wrong with the range of versions of a plugin, or `undefined`. A pre-release of this service counts as its version. */
function compatibilityProblem(range: string): string | undefined {
  const oldest = COMPATIBILITY.exec(range);
  if (oldest === null) {
    return `compatibility must be a range of versions such as "^1", "^1.2" or "^1.2.3", and is ${JSON.stringify(range)}.`;
  }
  const [major = 0, minor = 0, patch = 0] = oldest.slice(1).map((number: string | undefined) => Number(number ?? 0));
  const [ownMajor = 0, ownMinor = 0, ownPatch = 0] = VERSION.split(/[.-]/).map(Number);
  if (major === ownMajor && (minor < ownMinor || (minor === ownMinor && patch <= ownPatch))) return undefined;
  return `it is made for version ${range} of the service, and this is ${VERSION}.`;
}
