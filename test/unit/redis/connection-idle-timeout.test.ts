import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ConnectionIdleTimeout } from '../../../src/redis/connection-idle-timeout.js';
import { stopTime, turn } from '../../support/moved-time.js';

/** No command waits longer than this until the timeout. */
const NOTICED_WITHIN_MS = 600;
const NEVER_NOTICED_BEFORE_MS = 500;

let timeouts: number;
let idleTimeout: ConnectionIdleTimeout;

beforeEach(() => {
  stopTime();
  timeouts = 0;
  idleTimeout = new ConnectionIdleTimeout(() => (timeouts += 1));
  idleTimeout.start();
});
afterEach(() => {
  idleTimeout.stop();
  vi.useRealTimers();
});

it('expires after half a second without any reply', async () => {
  idleTimeout.sent();
  await turn(NEVER_NOTICED_BEFORE_MS);
  expect(timeouts).toBe(0);
  await turn(NOTICED_WITHIN_MS - NEVER_NOTICED_BEFORE_MS);
  expect(timeouts).toBe(1);
});

it('does not expire while the server replies to some commands, however long others wait', async () => {
  idleTimeout.sent();
  for (let answers = 0; answers < 5; answers++) {
    idleTimeout.sent();
    await turn(NEVER_NOTICED_BEFORE_MS);
    idleTimeout.settled(true);
  }
  expect(timeouts).toBe(0);
});

it('does not count a command that fails without a reply as a reply', async () => {
  idleTimeout.sent();
  for (let failures = 0; failures < 5; failures++) {
    idleTimeout.sent();
    await turn(NOTICED_WITHIN_MS / 5);
    idleTimeout.settled(false);
  }
  expect(timeouts).toBe(1);
});

it('does not expire without pending commands', async () => {
  idleTimeout.sent();
  idleTimeout.settled(true);
  await turn(10 * NOTICED_WITHIN_MS);
  expect(timeouts).toBe(0);
});
