import type { NestExpressApplication } from '@nestjs/platform-express';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { stopOnSignals } from '../../../../src/platform/start/shutdown.js';
import { OpenStreams } from '../../../../src/chat/stream/open-streams.js';
import { DrainState } from '../../../../src/platform/common/drain-state.js';
import type { Config } from '../../../../src/platform/config/config.js';
import type { ServiceLogger } from '../../../../src/platform/logs/service-logger.js';

const GRACE_MS = 25_000;
const LINGER_MS = 2_000;
const IDLE_CHECK_MS = 50;

let steps: string[];
let draining: { end(): void };
let closing: { end(error?: Error): void };
let signals: Map<string, (name: string) => void>;
const error = vi.fn();

beforeEach(() => {
  vi.useFakeTimers();
  steps = [];
  signals = new Map();
  error.mockReset();
  vi.spyOn(process, 'on').mockImplementation((name, listener) => {
    signals.set(String(name), listener as (name: string) => void);
    return process;
  });
  vi.spyOn(process, 'exit').mockImplementation((code) => steps.push(`exit ${String(code)}`) as never);
  const objects = new Map<unknown, object>([
    [DrainState, { begin: () => steps.push('begin') }],
    [
      OpenStreams,
      {
        drain(graceMs: number, farewellMs: number) {
          steps.push(`drain ${graceMs} ${farewellMs}`);
          return new Promise<void>((resolve) => (draining = { end: resolve }));
        },
      },
    ],
  ]);
  const app = {
    get: (type: unknown) => objects.get(type),
    getHttpServer: () => ({
      closeIdleConnections: () => steps.push('close idle'),
      closeAllConnections: () => steps.push('close all'),
    }),
    close() {
      steps.push('close');
      return new Promise<void>((resolve, reject) => {
        closing = {
          end(failure) {
            if (failure === undefined) resolve();
            else reject(failure);
          },
        };
      });
    },
  };
  stopOnSignals(
    app as unknown as NestExpressApplication,
    { shutdownGraceMs: GRACE_MS } as Config,
    { log: () => undefined, error } as unknown as ServiceLogger,
  );
});

const pass = (ms = 0): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);
const send = (name: string): Promise<unknown> => {
  signals.get(name)?.(name);
  return pass();
};
/** The steps since the last time. */
const next = (): string[] => steps.splice(0);

describe('a process that receives SIGTERM', () => {
  it.each(['SIGTERM', 'SIGINT'])('by %s is not ready at once, waits for streams, and then closes', async (name) => {
    await send(name);
    expect(next()).toEqual(['begin', `drain ${GRACE_MS} ${LINGER_MS}`]);
    await pass(GRACE_MS);
    expect(next()).toEqual([]);
    draining.end();
    await pass();
    expect(next()).toEqual(['close']);
    closing.end();
    await pass();
    expect(next()).toEqual(['exit 0']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('closes connections when they become idle, and all after two seconds', async () => {
    await send('SIGTERM');
    draining.end();
    await pass();
    next();
    await pass(IDLE_CHECK_MS);
    await pass(IDLE_CHECK_MS);
    expect(next()).toEqual(['close idle', 'close idle']);
    await pass(LINGER_MS - 2 * IDLE_CHECK_MS - 1);
    expect(next()).not.toContain('close all');
    await pass(1);
    expect(next()).toContain('close all');
    closing.end();
    await pass();
    next();
    await pass(2 * LINGER_MS);
    expect([next(), vi.getTimerCount()]).toEqual([[], 0]);
  });

  it('ends at once on a second signal', async () => {
    await send('SIGTERM');
    next();
    await send('SIGINT');
    expect(next()[0]).toBe('exit 1');
  });

  it('fails with what it could not close', async () => {
    await send('SIGTERM');
    draining.end();
    await pass();
    next();
    const failure = new Error('the ledger cannot be written');
    closing.end(failure);
    await pass();
    expect(next()).toEqual(['exit 1']);
    expect(error).toHaveBeenCalledWith(failure, 'Service');
    vi.clearAllTimers();
  });
});
