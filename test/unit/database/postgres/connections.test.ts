import pg from 'pg';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { CredentialConnections } from '../../../../src/database/postgres/credential-connections.js';
import { ClientWithQueryTimeout } from '../../../../src/database/postgres/client-with-query-timeout.js';

afterEach(() => {
  vi.restoreAllMocks();
});

describe('the connections for credentials', () => {
  const opened = (connections: CredentialConnections) => {
    const client = new connections.Client({ host: '127.0.0.1', port: 1 });
    return { client, destroy: vi.spyOn(client.connection.stream, 'destroy') };
  };

  it('are all closed at once', () => {
    const connections = new CredentialConnections();
    const all = [opened(connections), opened(connections)];
    const others = opened(new CredentialConnections());
    connections.cut();
    expect([...all, others].map(({ destroy }) => destroy.mock.calls.length)).toEqual([1, 1, 0]);
  });

  it('are forgotten when they have ended', () => {
    const connections = new CredentialConnections();
    const { client, destroy } = opened(connections);
    client.emit('end');
    connections.cut();
    expect(destroy).not.toHaveBeenCalled();
  });
});

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
