import { isTree, type Tree } from './resource.js';

/** What tells the items of a list apart, by the list's name. Other lists are replaced as a whole, as in Kubernetes. */
const MERGE_KEYS: Readonly<Record<string, string>> = {
  containers: 'name',
  env: 'name',
  ports: 'containerPort',
  volumes: 'name',
  volumeMounts: 'mountPath',
};

/** A strategic merge: members are merged, `null` removes one, and the named lists are merged item by item. */
export function merged(target: Tree, patch: Tree): Tree {
  const result: Tree = { ...target };
  for (const [member, value] of Object.entries(patch)) {
    const current = result[member];
    const key = MERGE_KEYS[member];
    if (value === null) Reflect.deleteProperty(result, member);
    else if (isTree(value)) result[member] = merged(isTree(current) ? current : {}, value);
    else if (Array.isArray(value) && Array.isArray(current) && key !== undefined) {
      result[member] = mergedLists(current as Tree[], value as Tree[], key);
    } else result[member] = value;
  }
  return result;
}

/** New items go before the old ones, as kustomize has it. */
function mergedLists(target: readonly Tree[], patches: readonly Tree[], key: string): Tree[] {
  const isFor = (patch: Tree) => (item: Tree) => item[key] === patch[key];
  const added = patches.filter((patch) => !target.some(isFor(patch)));
  return [
    ...added,
    ...target.map((item) => {
      const patch = patches.find((candidate) => isFor(candidate)(item));
      return patch === undefined ? item : merged(item, patch);
    }),
  ];
}

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly value?: unknown;
}

/** RFC 6902, of which `replace` and `remove` on what is there. */
export function operated(target: Tree, operations: readonly Operation[]): Tree {
  const result = structuredClone(target);
  for (const { op, path, value } of operations) {
    const members = path
      .slice(1)
      .split('/')
      .map((member) => member.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = members.pop() ?? '';
    const parent = members.reduce<unknown>((inner, member) => (inner as Tree | undefined)?.[member], result);
    if (typeof parent !== 'object' || parent === null || !(last in parent)) throw new Error(`Nothing is at ${path}.`);
    if (op === 'replace') (parent as Tree)[last] = value;
    else if (op === 'remove' && !Array.isArray(parent)) Reflect.deleteProperty(parent, last);
    else throw new Error(`This reader does not know the operation ${op} at ${path}.`);
  }
  return result;
}
