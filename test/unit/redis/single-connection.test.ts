import { Logger } from '@nestjs/common';
import { ErrorReply } from '@redis/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { keyInSlots } from '../../../src/redis/cluster/slot-map.js';
import { SingleConnection } from '../../../src/redis/single-connection.js';
import { ScriptedRedis } from '../../support/scripted-redis.js';
import { runningTimers } from '../../support/timer-watch.js';
import { waitFor } from '../../support/wait-for.js';

const SLOT = 1_234;

let redis: ScriptedRedis;
let connection: SingleConnection;

beforeEach(async () => {
  vi.spyOn(Logger.prototype, 'warn').mockReturnValue();
  vi.spyOn(Logger.prototype, 'log').mockReturnValue();
  redis = await ScriptedRedis.start();
  connection = new SingleConnection({ kind: 'server', url: redis.url, database: 0 });
  await connection.onModuleInit();
});
afterEach(async () => {
  await connection.onApplicationShutdown();
  await redis.stop();
  vi.restoreAllMocks();
});

const moved = () => Promise.reject(new ErrorReply(`MOVED ${SLOT} 127.0.0.1:7001`));
const lastProbe = (): unknown => redis.keys.at(-1);

describe('the connection to one server', () => {
  it('probes the slot that was refused until the server accepts it, and then its own key', async () => {
    await expect(connection.run('key', moved)).rejects.toThrow('part of a cluster');
    expect(connection.isUnavailable).toBe(true);
    await waitFor(() => !connection.isUnavailable, 'the server to be available');
    expect(lastProbe()).toBe(keyInSlots([SLOT]));

    await connection.check();
    expect(lastProbe()).toBe('chat:probe');
  });

  it('has no timer of the log of an outage after its end', async () => {
    redis.refusal = 'READONLY no writes';
    await expect(connection.run('key', moved)).rejects.toThrow('part of a cluster');

    await connection.onApplicationShutdown();

    expect([...runningTimers().keys()].filter((place) => place.includes('outage-log'))).toEqual([]);
  });
});
