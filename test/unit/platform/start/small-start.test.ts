import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';

const FOLDER = join(import.meta.dirname, '..', '..', '..', '..', 'dist', 'platform', 'start');
const urlOf = (name: string): string => JSON.stringify(pathToFileURL(join(FOLDER, name)).href);

/** Runs the code in a process of its own, because the flags of V8 are those of its process. */
function megabytesOf(code: string): number[] {
  const script = `
    import { getHeapSpaceStatistics } from 'node:v8';
    const kept = [];
    const young = () => {
      for (let count = 0; count < 1e6; count += 1) kept.push({ count });
      const { space_size: bytes } = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space');
      return Math.round(bytes / 2 ** 20);
    };
    const sizes = [];
    ${code}
    console.log(JSON.stringify(sizes));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  return JSON.parse(stdout) as number[];
}

describe('the memory for young objects', () => {
  it('stays small during the start, and grows with the load after it', () => {
    const [started = Infinity, loaded = 0] = megabytesOf(`
      await import(${urlOf('small-start.js')});
      sizes.push(young());
      const { endStart } = await import(${urlOf('end-start.js')});
      endStart();
      sizes.push(young());`);
    expect(started).toBeLessThan(8);
    expect(loaded).toBeGreaterThan(2 * started);
  });

  it('leaves no collector for other code behind', () => {
    const [visible] = megabytesOf(`
      const { endStart } = await import(${urlOf('end-start.js')});
      endStart();
      const { runInNewContext } = await import('node:vm');
      sizes.push(runInNewContext('typeof gc') === 'undefined' ? 0 : 1);`);
    expect(visible).toBe(0);
  });
});
