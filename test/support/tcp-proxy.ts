import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A proxy between a process and a store that can simulate network failures. */
export class TcpProxy {
  private readonly pairs = new Set<readonly [Socket, Socket]>();
  private readonly abandoned = new Set<readonly [Socket, Socket]>();
  private isCut = false;
  private isStalled = false;

  private constructor(
    private readonly server: Server,
    private readonly targetPort: number,
  ) {
    server.on('connection', (socket) => {
      this.join(socket);
    });
  }

  static async start(targetPort: number): Promise<TcpProxy> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new TcpProxy(server, targetPort);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Resets all connections, including new ones. */
  cut(): void {
    this.isCut = true;
    for (const pair of this.pairs) for (const socket of pair) socket.resetAndDestroy();
  }

  /** Accepts connections, but forwards no bytes. */
  stall(): void {
    this.isStalled = true;
    for (const pair of this.pairs) for (const socket of pair) socket.unpipe().pause();
  }

  /** Never forwards bytes on the current connections again, like a server that vanished. New connections work as before. */
  abandon(): void {
    for (const pair of this.pairs) {
      this.abandoned.add(pair);
      for (const socket of pair) socket.unpipe().pause();
    }
    this.pairs.clear();
  }

  restore(): void {
    this.isCut = false;
    if (!this.isStalled) return;
    this.isStalled = false;
    for (const [a, b] of this.pairs) {
      a.pipe(b);
      b.pipe(a);
    }
  }

  async stop(): Promise<void> {
    this.cut();
    for (const pair of this.abandoned) for (const socket of pair) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private join(client: Socket): void {
    client.on('error', () => undefined);
    if (this.isCut) {
      client.resetAndDestroy();
      return;
    }
    const target = connect(this.targetPort, '127.0.0.1');
    const pair = [client, target] as const;
    this.pairs.add(pair);
    for (const [socket, other] of [pair, [target, client] as const]) {
      socket
        .on('error', () => undefined)
        .on('close', () => {
          this.pairs.delete(pair);
          other.destroy();
        });
      if (!this.isStalled) socket.pipe(other);
    }
  }
}
