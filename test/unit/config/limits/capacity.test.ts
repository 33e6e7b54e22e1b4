import { describe, expect, it } from 'vitest';
import { defaultMaxStreams, maxConnectionsFor } from '../../../../src/config/limits/capacity.js';
import { openFileLimit } from '../../../../src/config/limits/file-limit.js';

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;

describe('how many streams a process holds by default', () => {
  it('grows with its memory', () => {
    expect(defaultMaxStreams(GIB, GIB, Infinity)).toBe(2197);
    expect(defaultMaxStreams(4 * GIB, 4 * GIB, Infinity)).toBe(10_389);
  });

  it('is less with a small heap, and with few open files', () => {
    expect(defaultMaxStreams(GIB, 280 * MIB, Infinity)).toBe(1066);
    expect(defaultMaxStreams(GIB, GIB, 1024)).toBe(384);
  });

  it('is not absurdly small where there is next to no memory', () => {
    expect(defaultMaxStreams(128 * MIB, 64 * MIB, Infinity)).toBe(100);
  });

  it('leaves room for other connections, and for those to upstreams', () => {
    expect(maxConnectionsFor(2000, Infinity)).toBe(3000);
    expect(maxConnectionsFor(384, 1024) + 384).toBeLessThan(1024);
  });
});

describe('the limit of open files', () => {
  it('is the soft one', () => {
    expect(openFileLimit('Max processes  1  2  processes\nMax open files            20000   40000   files\n')).toBe(
      20_000,
    );
  });

  it('is infinite where it is unknown, and where it is unlimited', () => {
    expect(openFileLimit('')).toBe(Infinity);
    expect(openFileLimit('Max open files            unlimited   unlimited   files\n')).toBe(Infinity);
  });
});
