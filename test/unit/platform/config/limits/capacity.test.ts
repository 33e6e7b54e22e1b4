import { describe, expect, it } from 'vitest';
import {
  defaultMaxStreams,
  heapLimitBytes,
  MAX_BODY_BYTES,
  maxConnectionsFor,
  memoryLimitBytes,
  openFileLimit,
} from '../../../../../src/platform/config/limits/capacity.js';
import { totalmem } from 'node:os';
import { Test } from '@nestjs/testing';
import { ConfigModule } from '../../../../../src/platform/config/config.module.js';
import { loadConfig } from '../../../../../src/platform/config/load-config.js';

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

describe('memory limit', () => {
  const GIB = 1024 ** 3;

  describe('the memory limit of the process', () => {
    it.each<[string, number, number]>([
      ['of the container, where it has one', GIB, GIB],
      ['of the machine, where the container has none (cgroup v2 "max")', 2 ** 64, 8 * GIB],
      ['of the machine, where the container has none (cgroup v1)', 9_223_372_036_854_771_712, 8 * GIB],
      ['of the machine, where the limit is unknown', 0, 8 * GIB],
    ])('is that %s', (_, containerBytes, expected) => {
      expect(memoryLimitBytes(containerBytes, 8 * GIB)).toBe(expected);
    });

    it('is positive, and no more than the machine has', () => {
      expect(memoryLimitBytes()).toBeGreaterThan(0);
      expect(memoryLimitBytes()).toBeLessThanOrEqual(totalmem());
    });
  });

  describe('the limit of the heap', () => {
    it('is what V8 allows, but never more than the process may use', () => {
      expect(heapLimitBytes(2 * GIB, 4 * GIB)).toBe(2 * GIB);
      expect(heapLimitBytes(4 * GIB, 2 * GIB)).toBe(2 * GIB);
      expect(heapLimitBytes()).toBeLessThanOrEqual(memoryLimitBytes());
    });

    it('leaves three quarters to everything that is no request body', async () => {
      const module = await Test.createTestingModule({ imports: [ConfigModule.forRoot(loadConfig({}))] }).compile();
      expect(module.get(MAX_BODY_BYTES)).toBe(heapLimitBytes() / 4);
    });
  });
});
