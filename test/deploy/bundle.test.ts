import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configFile, routesTo } from '../support/catalog.js';
import { Installation } from '../support/process.js';
import { ROOT } from './folders.js';

const NAME = /node_modules\/((?:@[^/]+\/)?[^/]+)\//;
const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<
  'dependencies' | 'peerDependencies',
  Record<string, string>
>;
const OWN_PACKAGES = Object.keys({ ...dependencies, ...peerDependencies });
/** Tells, at the end of a process, what Node has loaded from packages. */
const TELL = `process.on('exit', () => {
  const names = Object.keys(require.cache).map((path) => ${String(NAME)}.exec(path)?.[1]).filter(Boolean);
  console.error('loaded ' + [...new Set(names)].join(' '));
});`;

describe('the bundle', () => {
  let folder: string;
  let installation: Installation;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'chat-bundle-'));
    installation = await Installation.create(configFile(routesTo(['http://127.0.0.1:9'])));
  });
  afterAll(async () => {
    await installation.remove();
    await rm(folder, { recursive: true });
  });

  it('comes with the licenses of its packages', () => {
    expect(bundled()).toEqual(expect.arrayContaining(['@nestjs/core', 'express', 'rxjs']));
    expect(licenses()).toContain('The above copyright notice and this permission notice');
  });

  it('has no package of the service that Node loads a second time', async () => {
    const script = join(folder, 'tell.cjs');
    await writeFile(script, TELL);
    const service = installation.start({ NODE_OPTIONS: `--require=${script}` });
    await service.origin();
    service.signal('SIGTERM');

    const loaded = /^loaded (.*)$/m.exec((await service.exited).stderr)?.[1]?.split(' ') ?? [];

    expect(loaded).toContain('better-sqlite3');
    // Helpers of these packages, such as tslib, may be there twice.
    expect(loaded.filter((name) => OWN_PACKAGES.includes(name) && bundled().includes(name))).toEqual([]);
  });
});

function licenses(): string {
  return readFileSync(join(ROOT, 'dist', 'bundle', 'LICENSES.txt'), 'utf8');
}

/** The names of the packages in the bundle. */
function bundled(): (string | undefined)[] {
  return [...licenses().matchAll(/^((?:@[\w.-]+\/)?[\w.-]+) \d+\.\d+\.\d+\S*: /gm)].map(([, name]) => name);
}
