import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { Transform } from 'node:stream';

/** One direction of a connection. */
interface Lane {
  readonly from: Socket;
  /** Delays the bytes. */
  readonly via: Transform;
}

interface Pair {
  readonly client: Socket;
  readonly target: Socket;
  readonly requests: Lane;
  readonly replies: Lane;
}

/** A proxy between a process and a store that can simulate network failures. */
export class TcpProxy {
  /** How long each read waits before the proxy forwards it. */
  delayMs = 0;
  /** Called for each connection. Returns after how many bytes it is reset, in both directions together. */
  bytesUntilReset: () => number = () => Infinity;
  private readonly pairs = new Set<Pair>();
  private readonly abandoned = new Set<Pair>();
  private isCut = false;
  private isStalled = false;
  private losesReplies = false;

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

  /** The ports from which the server sees the connections. */
  get portsAtTarget(): number[] {
    return [...this.pairs].flatMap(({ target }) => target.localPort ?? []);
  }

  /** Resets all connections, including new ones. */
  cut(): void {
    this.isCut = true;
    this.reset();
  }

  /** Accepts connections, but forwards no bytes. */
  stall(): void {
    this.isStalled = true;
    for (const pair of this.pairs) pause(pair);
  }

  /** Forwards what clients send, and drops what the server replies. */
  loseReplies(): void {
    this.losesReplies = true;
    for (const { target } of this.pairs) target.unpipe().resume();
  }

  /** Never forwards bytes on the current connections again, like a server that vanished. New connections work as before. */
  abandon(): void {
    for (const pair of this.pairs) {
      this.abandoned.add(pair);
      pause(pair);
    }
    this.pairs.clear();
  }

  /** Ends what the server sends on the current connections. What the clients send still arrives. New connections work as before. */
  halfClose(): void {
    for (const { client, target } of this.pairs) {
      target.unpipe().resume();
      client.end();
    }
  }

  restore(): void {
    this.isCut = false;
    this.delayMs = 0;
    if (this.losesReplies) {
      this.losesReplies = false;
      // What was dropped cannot be repaired.
      this.reset();
    }
    if (!this.isStalled) return;
    this.isStalled = false;
    for (const { requests, replies } of this.pairs) for (const { from, via } of [requests, replies]) from.pipe(via);
  }

  async stop(): Promise<void> {
    this.cut();
    for (const { client, target } of this.abandoned) for (const socket of [client, target]) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private reset(): void {
    for (const { client, target } of this.pairs) for (const socket of [client, target]) socket.resetAndDestroy();
  }

  private join(client: Socket): void {
    client.on('error', () => undefined);
    if (this.isCut) {
      client.resetAndDestroy();
      return;
    }
    const target = connect(this.targetPort, '127.0.0.1');
    const counted = { left: this.bytesUntilReset() };
    const [requests, replies] = [this.lane(client, target, counted), this.lane(target, client, counted)];
    const pair = { client, target, requests, replies };
    this.pairs.add(pair);
    for (const [socket, other] of [
      [client, target],
      [target, client],
    ] as const) {
      socket
        .on('error', () => undefined)
        .on('close', () => {
          this.pairs.delete(pair);
          other.destroy();
        });
    }
    if (!this.isStalled) client.pipe(pair.requests.via);
    if (this.losesReplies) target.resume();
    else if (!this.isStalled) target.pipe(pair.replies.via);
  }

  /** @param counted the bytes that may still pass. */
  private lane(from: Socket, to: Socket, counted: { left: number }): Lane {
    const via = new Transform({
      transform: (bytes: Buffer, _, done) => {
        const passed = bytes.subarray(0, counted.left);
        counted.left -= passed.length;
        if (passed.length < bytes.length) {
          setImmediate(() => {
            for (const socket of [from, to]) socket.resetAndDestroy();
          });
        }
        if (this.delayMs === 0) done(null, passed);
        else setTimeout(done, this.delayMs, null, passed);
      },
    });
    via.pipe(to);
    return { from, via };
  }
}

function pause({ client, target }: Pair): void {
  for (const socket of [client, target]) socket.unpipe().pause();
}
