import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import pg from 'pg';
import { describe, expect, it, vi } from 'vitest';
import { ClientWithQueryTimeout } from '../../../../../src/platform/database/postgres/pool-clients.js';

/** `AuthenticationOk` and `ReadyForQuery`, and `ErrorResponse` with the code of a server that stops. */
const OPENED = Buffer.from('R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I', 'latin1');
const FIELDS = 'SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0';
const ENDED = Buffer.concat([Buffer.from('E\0\0\0'), Buffer.from([FIELDS.length + 4]), Buffer.from(FIELDS)]);

describe('a connection', () => {
  it('survives a server that ends it with the reply that opens it', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined).once('data', () => socket.end(Buffer.concat([OPENED, ENDED])));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const pool = new pg.Pool({ host: '127.0.0.1', port, user: 'test', Client: ClientWithQueryTimeout });
    const client = await pool.connect();
    await expect(client.query('SELECT 1')).rejects.toThrow(/terminat|not queryable/);
    client.release();
    await pool.end();
    server.close();
  });

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
