import type { NestExpressApplication } from '@nestjs/platform-express';
import { expect, it, vi } from 'vitest';
import { stopOnSignals } from '../../../../src/platform/start/shutdown.js';
import type { Config } from '../../../../src/platform/config/config.js';
import type { ServiceLogger } from '../../../../src/platform/logs/service-logger.js';

it('a process that receives SIGTERM fails with what it could not close', async () => {
  vi.useFakeTimers();
  let signal: (name: string) => void = () => undefined;
  vi.spyOn(process, 'on').mockImplementation((name, listener) => {
    if (name === 'SIGTERM') signal = listener as typeof signal;
    return process;
  });
  const exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never);
  const failure = new Error('the ledger cannot be written');
  const error = vi.fn();
  const app = {
    get: () => ({ begin: () => undefined, drain: () => Promise.resolve() }),
    getHttpServer: () => ({ closeIdleConnections: () => undefined, closeAllConnections: () => undefined }),
    close: () => Promise.reject(failure),
  };
  stopOnSignals(
    app as unknown as NestExpressApplication,
    { shutdownGraceMs: 1 } as Config,
    { log: () => undefined, error } as unknown as ServiceLogger,
  );
  signal('SIGTERM');
  await vi.advanceTimersByTimeAsync(0);
  expect(exit.mock.calls).toEqual([[1]]);
  expect(error).toHaveBeenCalledWith(failure, 'Service');
});
