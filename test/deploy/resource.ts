/** What the tests read of a Kubernetes resource. */
export interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly [member: string]: unknown };
  readonly [member: string]: unknown;
}

export type Tree = { [member: string]: unknown };

export function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value at a path such as `spec/template/spec/containers/0`. `undefined` where there is none. */
export function at(value: unknown, path: string): unknown {
  return path
    .split('/')
    .reduce<unknown>((inner, member) => (inner as Tree | null | undefined)?.[member] ?? undefined, value);
}
