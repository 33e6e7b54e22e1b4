import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { usePace } from '../../../../../src/platform/common/timers/pace.js';
import { ProbeConnection } from '../../../../../src/platform/database/postgres/probe-connection.js';
import { waitFor } from '../../../../support/wait-for.js';

const AUTHENTICATED = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0]);
const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);

/** A PostgreSQL that lets everybody in and answers no query, or answers nothing at all. */
let server: Server;
let isSilent: boolean;
let sockets: Socket[];
let open: number;
let losses: ProbeConnection[];

beforeEach(() => usePace(10));
beforeEach(async () => {
  [isSilent, sockets, open, losses] = [false, [], 0, []];
  server = createServer((socket) => {
    sockets.push(socket);
    open += 1;
    socket.on('error', () => undefined).on('close', () => (open -= 1));
    socket.once('data', () => isSilent || socket.write(Buffer.concat([AUTHENTICATED, READY])));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  server.close();
  await once(server, 'close');
});

function dial(onLate?: () => void): Promise<ProbeConnection> {
  const { port } = server.address() as AddressInfo;
  return ProbeConnection.dial(`postgres://chat@127.0.0.1:${port}/chat`, (lost) => losses.push(lost), onLate);
}
const isLeftWith = (count: number) => waitFor(() => open === count, `${count} connections to be left`);

describe('the connection that checks whether the server replies', () => {
  it('is given up after a second without an answer, and leaves nothing open', async () => {
    isSilent = true;
    await expect(dial()).rejects.toMatchObject({ name: 'ProbeTimeout', message: 'no reply in time' });
    await isLeftWith(0);
    expect(losses).toEqual([]);
  });

  it('reports an answer that comes after it was given up, and leaves nothing open', async () => {
    isSilent = true;
    let late = 0;
    await expect(dial(() => (late += 1))).rejects.toMatchObject({ name: 'ProbeTimeout' });
    expect(late).toBe(0);
    sockets[0]?.write(Buffer.concat([AUTHENTICATED, READY]));
    await waitFor(() => late === 1, 'the report');
    await isLeftWith(0);
    expect(losses).toEqual([]);
  });
});
