import { totalmem } from 'node:os';
import { Test } from '@nestjs/testing';
import { describe, expect, it } from 'vitest';
import { ConfigModule } from '../../../../src/config/config.module.js';
import { heapLimitBytes, memoryLimitBytes, MAX_BODY_BYTES } from '../../../../src/config/limits/memory-limit.js';
import { loadConfig } from '../../../../src/config/load-config.js';

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
