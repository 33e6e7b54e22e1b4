import { expect, it, vi } from 'vitest';
import { asking } from '../../../../src/redis/cluster/redirection.js';
import type { RedisClient } from '../../../../src/redis/redis-client.js';

it('a refused ASKING fails nothing but the command that it belongs to', async () => {
  const unhandled = vi.fn();
  process.on('unhandledRejection', unhandled);
  const sent: unknown[] = [];
  // A mock function would handle the rejection itself.
  const sendCommand = (command: unknown): Promise<never> => {
    sent.push(command);
    return Promise.reject(new Error('ERR unknown command'));
  };
  const get = (): Promise<never> => Promise.reject(new Error('MOVED 1 :1'));
  const client = asking({ sendCommand, get } as unknown as RedisClient);

  await expect(client.get('key')).rejects.toThrow('MOVED');
  // Node tells of unhandled rejections at the end of a turn.
  await new Promise((resolve) => setImmediate(resolve));

  expect(sent).toEqual([['ASKING']]);
  expect(unhandled).not.toHaveBeenCalled();
  process.off('unhandledRejection', unhandled);
});
