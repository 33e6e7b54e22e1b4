import type { NestExpressApplication } from '@nestjs/platform-express';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { watchConfig } from '../../../../src/platform/start/bootstrap.js';
import { CONFIG } from '../../../../src/platform/config/config.js';
import { ConfigReload } from '../../../../src/models/config-reload.js';

const CHECK_EVERY_MS = 1_000;

let folder: string;
let path: string;
/** The path in the configuration. */
let watched: string | undefined;
let applied: number;
let hasChanged: boolean;
let signal: () => void;
const onReload = vi.fn();

beforeEach(() => {
  vi.useFakeTimers();
  folder = mkdtempSync(join(tmpdir(), 'chat-config-'));
  watched = path = join(folder, 'config.yaml');
  writeFileSync(path, 'models: []');
  applied = 0;
  hasChanged = true;
  onReload.mockReset();
  vi.spyOn(process, 'on').mockImplementation((name, listener) => {
    if (name === 'SIGHUP') signal = listener as () => void;
    return process;
  });
});
afterEach(() => {
  vi.clearAllTimers();
  vi.useRealTimers();
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

function start(): void {
  const apply = () => {
    applied += 1;
    return hasChanged;
  };
  const get = (token: unknown) =>
    token === ConfigReload ? { apply } : token === CONFIG ? { catalogPath: watched } : undefined;
  watchConfig({ get } as unknown as NestExpressApplication, onReload);
}
const look = (times = 1): unknown => vi.advanceTimersByTime(times * CHECK_EVERY_MS);

describe('the file of the configuration', () => {
  it('is read again when it has changed, and then has not changed for a second', () => {
    start();
    look(3);
    expect(applied).toBe(0);
    writeFileSync(path, 'models: [one');
    look();
    expect(applied).toBe(0);
    writeFileSync(path, 'models: [one, two]');
    look();
    expect(applied).toBe(0);
    look();
    expect([applied, onReload.mock.calls.length]).toEqual([1, 1]);
    look(3);
    expect(applied).toBe(1);
  });

  it('is read again when it is gone, and when it is back', () => {
    start();
    rmSync(path);
    look(2);
    expect(applied).toBe(1);
    writeFileSync(path, 'models: []');
    look(2);
    expect(applied).toBe(2);
  });

  it('is not looked at where there is none, but SIGHUP works', () => {
    watched = undefined;
    start();
    expect(vi.getTimerCount()).toBe(0);
    signal();
    expect(applied).toBe(1);
  });
});
