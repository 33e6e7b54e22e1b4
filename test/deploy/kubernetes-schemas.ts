import { createRequire } from 'node:module';
import { join } from 'node:path';
import ts from 'typescript';
import type { Resource } from './resource.js';

const require = createRequire(import.meta.url);

/** Where a resource's schema is in the package `kubernetes-models`. */
function moduleOf({ apiVersion, kind }: Resource): string {
  return `kubernetes-models/${apiVersion}/${kind}`;
}

/** What the published schema finds wrong with it: missing and mistyped fields, values out of a list. */
export function schemaProblems(resource: Resource): string[] {
  const models = require(moduleOf(resource)) as Record<
    string,
    new (content: Resource) => { validate: () => void } | undefined
  >;
  const Model = models[resource.kind];
  if (Model === undefined) return [`There is no ${resource.kind} in ${resource.apiVersion}.`];
  try {
    new Model(resource)?.validate();
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

/**
 * Fields that the resources' types do not have. The schemas let them pass, as they are open; the compiler does not, for an
 * object literal. One program for all of them, as reading the types takes most of the time.
 */
export function unknownFields(resources: readonly Resource[]): string[] {
  const path = join(import.meta.dirname, 'resources-as-literals.ts');
  const source = resources
    .map(
      (resource, n) =>
        `import type { I${resource.kind} as T${n} } from '${moduleOf(resource)}';\nexport const r${n}: T${n} = ${JSON.stringify(resource)};`,
    )
    .join('\n');
  const options: ts.CompilerOptions = {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    strict: true,
    skipLibCheck: true,
    noEmit: true,
    types: [],
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (name) => name === path || fileExists(name);
  host.getSourceFile = (name, target, ...others) =>
    name === path ? ts.createSourceFile(name, source, target) : getSourceFile(name, target, ...others);
  const program = ts.createProgram([path], options, host);
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
}
