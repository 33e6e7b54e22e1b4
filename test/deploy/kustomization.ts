import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { merged, operated } from './patches.js';
import { isTree, type Resource, type Tree } from './resource.js';

const Generator = z.strictObject({
  name: z.string(),
  behavior: z.literal('merge').optional(),
  literals: z.array(z.string()).default([]),
  files: z.array(z.string()).default([]),
  envs: z.array(z.string()).default([]),
});

/** What of a kustomization this reader understands. Anything else in one fails, rather than being passed over. */
const Kustomization = z.strictObject({
  apiVersion: z.string(),
  kind: z.enum(['Kustomization', 'Component']),
  namespace: z.string().optional(),
  resources: z.array(z.string()).default([]),
  components: z.array(z.string()).default([]),
  configMapGenerator: z.array(Generator).default([]),
  secretGenerator: z.array(Generator).default([]),
  images: z.array(z.strictObject({ name: z.string(), newName: z.string(), digest: z.string() })).default([]),
  patches: z
    .array(
      z.strictObject({ path: z.string(), target: z.strictObject({ kind: z.string(), name: z.string() }).optional() }),
    )
    .default([]),
});

export interface Rendered {
  readonly resources: readonly Resource[];
  /** Every file that was read. */
  readonly files: readonly string[];
}

/** Has a namespace of its own, or none. */
const CLUSTER_WIDE = new Set(['Namespace']);

/**
 * What `kustomize build` makes of the folder, but for the hashes in names. A file of secrets that is not in git is read from
 * its example beside it.
 */
export function render(folder: string): Rendered {
  const files: string[] = [];
  const read = (name: string) => {
    const path = join(folder, name);
    files.push(path);
    return readFileSync(path, 'utf8');
  };
  const trees = (name: string) => parseAllDocuments(read(name)).map((document) => document.toJS() as unknown);
  const file = Kustomization.parse(trees('kustomization.yaml')[0]);

  let resources = [...file.resources, ...file.components].flatMap((name): Resource[] => {
    const path = join(folder, name);
    if (!statSync(path).isDirectory()) return trees(name) as Resource[];
    const inner = render(path);
    files.push(...inner.files);
    return [...inner.resources];
  });
  for (const generator of file.configMapGenerator) {
    resources = withGenerated(resources, 'ConfigMap', generator.name, values(generator, read), generator.behavior);
  }
  for (const generator of file.secretGenerator) {
    resources = withGenerated(resources, 'Secret', generator.name, values(generator, read), generator.behavior);
  }
  for (const { path, target } of file.patches) {
    for (const patch of trees(path)) resources = patched(resources, patch, target);
  }
  return {
    files,
    resources: resources.map((resource) => placed(withImages(resource, file.images) as Resource, file.namespace)),
  };
}

function values(generator: z.infer<typeof Generator>, read: (name: string) => string): Record<string, string> {
  const lines = generator.envs.flatMap((name) => read(`${name}.example`).split('\n'));
  const pairs = [...lines.filter((line) => line !== '' && !line.startsWith('#')), ...generator.literals];
  return Object.fromEntries([
    ...pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)] as const),
    ...generator.files.map((name) => [basename(name), read(name)] as const),
  ]);
}

function withGenerated(
  resources: readonly Resource[],
  kind: string,
  name: string,
  added: Record<string, string>,
  behavior: 'merge' | undefined,
): Resource[] {
  const current = resources.find((resource) => resource.kind === kind && resource.metadata.name === name);
  if ((current !== undefined) !== (behavior === 'merge')) throw new Error(`${kind} ${name}: is made twice, or never.`);
  const member = kind === 'Secret' ? 'stringData' : 'data';
  const made = { apiVersion: 'v1', kind, metadata: { name }, [member]: { ...(current?.[member] as object), ...added } };
  return [...resources.filter((resource) => resource !== current), made];
}

function patched(resources: readonly Resource[], patch: unknown, target?: { kind: string; name: string }): Resource[] {
  const { kind, name } = target ?? { kind: (patch as Resource).kind, name: (patch as Resource).metadata.name };
  const isMeant = (resource: Resource) => resource.kind === kind && resource.metadata.name === name;
  if (resources.filter(isMeant).length !== 1) throw new Error(`There is not one ${kind} ${name} to patch.`);
  if (isTree(patch) && patch['$patch'] === 'delete') return resources.filter((resource) => !isMeant(resource));
  return resources.map((resource) => {
    if (!isMeant(resource)) return resource;
    if (Array.isArray(patch)) return operated(resource, patch as Parameters<typeof operated>[1]) as Resource;
    return merged(resource, patch as Tree) as Resource;
  });
}

function withImages(value: unknown, images: z.infer<typeof Kustomization>['images']): unknown {
  if (Array.isArray(value)) return value.map((item) => withImages(item, images));
  if (!isTree(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([member, inner]) => {
      const [name] = typeof inner === 'string' && member === 'image' ? inner.split(':') : [];
      const image = images.find((candidate) => candidate.name === name);
      return [member, image === undefined ? withImages(inner, images) : `${image.newName}@${image.digest}`];
    }),
  );
}

function placed(resource: Resource, namespace: string | undefined): Resource {
  if (namespace === undefined || CLUSTER_WIDE.has(resource.kind)) return resource;
  return { ...resource, metadata: { ...resource.metadata, namespace } };
}

/** Whether the folder is for kustomize. */
export function isKustomization(folder: string): boolean {
  return existsSync(join(folder, 'kustomization.yaml'));
}
