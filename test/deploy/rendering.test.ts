import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { KUBERNETES, OVERLAYS, overlay, POD_MONITOR } from './folders.js';
import { isKustomization, render } from './kustomization.js';
import type { Resource, Tree } from './resource.js';

const rendered = OVERLAYS.map((name) => [name, render(overlay(name)).resources] as const);

describe('the manifests', () => {
  it('are all used, and every file that is named is there', () => {
    const used = new Set([...OVERLAYS.map(overlay), POD_MONITOR].flatMap((folder) => render(folder).files));
    const present = readdirSync(KUBERNETES, { recursive: true, withFileTypes: true })
      // The real secrets, if they are there, are read by nobody here.
      .filter((entry) => entry.isFile() && entry.name !== 'secrets.env')
      .map((entry) => join(entry.parentPath, entry.name));

    expect([...used].sort()).toEqual(present.sort());
    for (const path of present.filter((file) => file.endsWith('.yaml'))) {
      expect(isKustomization(dirname(path)), path).toBe(true);
    }
  });

  it.each(rendered)('of the overlay %s hold each resource once, in one namespace', (_, resources) => {
    const names = resources.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
    const namespaces = resources.filter(({ kind }) => kind !== 'Namespace').map(({ metadata }) => metadata.namespace);
    expect(new Set(namespaces)).toEqual(new Set(['chat-streaming']));
    expect(names).toContain('Namespace/chat-streaming');
  });
});

// The reader above is small; where the real kustomize is at hand, both have to agree.
if (spawnSync('kubectl', ['kustomize', '--help']).status === 0) {
  describe('kubectl kustomize', () => {
    const folder = mkdtempSync(join(tmpdir(), 'chat-kustomize-'));
    cpSync(KUBERNETES, folder, { recursive: true, filter: (path) => !path.endsWith('secrets.env') });
    for (const name of OVERLAYS) {
      const own = join(folder, 'overlays', name);
      cpSync(join(own, 'secrets.env.example'), join(own, 'secrets.env'));
    }
    afterAll(() => {
      rmSync(folder, { recursive: true, force: true });
    });

    it.each(rendered)('makes the same of the overlay %s', (name, resources) => {
      const { status, stdout, stderr } = spawnSync('kubectl', ['kustomize', join(folder, 'overlays', name)], {
        encoding: 'utf8',
      });
      expect(stderr).toBe('');
      expect(status).toBe(0);
      const plain = stdout.replaceAll(/(chat-streaming-(?:environment|config|secrets))-[a-z0-9]{10}\b/g, '$1');
      const theirs = parseAllDocuments(plain).map((document) => document.toJS() as Resource);

      expect(inOrder(theirs.map(withPlainSecrets))).toEqual(inOrder(resources));
    });
  });
}

function inOrder(resources: readonly Resource[]): Resource[] {
  const key = ({ kind, metadata }: Resource) => `${kind}/${metadata.name}`;
  return [...resources].sort((a, b) => key(a).localeCompare(key(b)));
}

function withPlainSecrets(resource: Resource): Resource {
  if (resource.kind !== 'Secret') return resource;
  const { data, type, ...others } = resource;
  expect(type).toBe('Opaque');
  const decoded = Object.entries(data as Tree).map(([name, value]) => [
    name,
    Buffer.from(String(value), 'base64').toString(),
  ]);
  return { ...others, stringData: Object.fromEntries(decoded) };
}
