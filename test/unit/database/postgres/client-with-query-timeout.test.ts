import pg from 'pg';
import { describe, expect, it, vi } from 'vitest';
import { ClientWithQueryTimeout } from '../../../../src/database/postgres/client-with-query-timeout.js';

describe('a connection', () => {
  const failing = (message: string) => {
    const client = new ClientWithQueryTimeout({ host: '127.0.0.1', port: 1 });
    vi.spyOn(pg.Client.prototype, 'query').mockRejectedValue(new Error(message));
    return { client, end: vi.spyOn(client, 'end').mockRejectedValue(new Error('too late')) };
  };

  it('ends after a query without a reply in time, whose caller gets the error', async () => {
    const { client, end } = failing('Query read timeout');
    await expect(client.query('SELECT 1')).rejects.toThrow('Query read timeout');
    expect(end).toHaveBeenCalledTimes(1);
  });

  it('stays after other errors', async () => {
    const { client, end } = failing('syntax error');
    await expect(client.query('SELEC 1')).rejects.toThrow('syntax error');
    expect(end).not.toHaveBeenCalled();
  });
});
