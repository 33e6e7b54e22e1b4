import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { waitFor } from './wait-for.js';

/** Shorter than the 15 seconds after which the client of Redis closes a connection without traffic by itself. */
const CLOSED_WITHIN_MS = 8_000;

/** A Redis that answers every command with `OK`, unless the test wants something else. */
export class ScriptedRedis {
  /** The error reply to writes. */
  refusal: string | undefined;
  refusalOfGet: string | undefined;
  /** Whether commands get no answer. */
  isSilent = false;
  /** So many connections, the first ones, get no answer. */
  silentConnections = 0;
  /** How late the answers are. */
  delayMs = 0;
  /** The replies to single commands, in the protocol of Redis. */
  readonly replies: Record<string, string> = {};
  connections = 0;
  /** The names of all commands. */
  readonly commands: string[] = [];
  /** The keys of all scripts that have one key and no argument. */
  readonly keys: string[] = [];
  private readonly sockets = new Set<Socket>();

  private constructor(private readonly server: Server) {
    server.on('connection', (socket) => {
      const number = (this.connections += 1);
      this.sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => this.sockets.delete(socket));
      // The commands of the tests are short, so each command arrives whole.
      socket.on('data', (bytes) => {
        const names = commandsIn(bytes.toString());
        this.commands.push(...names);
        this.keys.push(...keysIn(bytes.toString()));
        const replies = names.map((name) => this.replyTo(name)).join('');
        if (this.isSilent || number <= this.silentConnections) return;
        if (this.delayMs === 0) socket.write(replies);
        else setTimeout(() => socket.write(replies), this.delayMs);
      });
    });
  }

  static async start(): Promise<ScriptedRedis> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new ScriptedRedis(server);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  get openConnections(): number {
    return this.sockets.size;
  }

  /** Waits until the clients have closed their connections, but for `count`. */
  async isLeftWith(count: number): Promise<void> {
    await waitFor(() => this.openConnections === count, `${count} connections to be left`, CLOSED_WITHIN_MS);
  }

  /** Closes all connections. New ones are accepted. */
  cut(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    this.cut();
    this.server.close();
    await once(this.server, 'close');
  }

  private replyTo(command: string): string {
    if (['SET', 'EVALSHA'].includes(command) && this.refusal !== undefined) return `-${this.refusal}\r\n`;
    if (command === 'GET' && this.refusalOfGet !== undefined) return `-${this.refusalOfGet}\r\n`;
    return this.replies[command] ?? '+OK\r\n';
  }
}

/** Returns the names of the commands: the first text of each array. */
function commandsIn(resp: string): string[] {
  return [...resp.matchAll(/\*\d+\r\n\$\d+\r\n([^\r]+)\r\n/g)].map(([, name = '']) => name.toUpperCase());
}

/** Returns the keys of the scripts: the last text of an array that ends with a script, the number 1 and a key. */
function keysIn(resp: string): string[] {
  return [...resp.matchAll(/\*4\r\n\$\d+\r\nEVAL(?:SHA)?\r\n\$\d+\r\n[^\r]*\r\n\$1\r\n1\r\n\$\d+\r\n([^\r]+)/g)].map(
    ([, key = '']) => key,
  );
}
