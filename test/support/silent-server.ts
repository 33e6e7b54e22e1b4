import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';

/**
 * Starts a server that accepts connections and never sends a byte. A TLS handshake with this server never ends, as with an
 * unreachable provider.
 */
export async function startSilentServer(): Promise<{ readonly authority: string; stop(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    authority: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Below the ports that the system gives to connections and to servers without a port of their own. */
const PORTS = [12_000, 32_000] as const;

/** A port on 127.0.0.1 on which no server listens. */
export async function closedPort(): Promise<number> {
  for (;;) {
    const server = createServer().listen(randomInt(...PORTS), '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    return port;
  }
}
