import type { RedisClient } from '../../../src/redis/redis-client.js';
import { RedisConnection, type Commands } from '../../../src/redis/redis-connection.js';
import type { RedisScript } from '../../../src/redis/redis-script.js';

/** A command that was sent: the hash of a script or the name of a command, with its keys and arguments. */
export interface Sent {
  readonly name: string;
  readonly keys: readonly string[];
  readonly args: readonly string[];
}

/** A connection whose answers the test gives. */
export class FakeRedis extends RedisConnection {
  readonly isOpen = true;
  isUnavailable = false;
  readonly sent: Sent[] = [];
  /** The keys by which the server was chosen. */
  readonly slots: string[] = [];
  answer: (command: Sent) => unknown = () => 0;
  /** Fails before anything is sent. */
  failure: Error | undefined;
  /** Delays what is sent next, as a redirection does. */
  redirection: Promise<void> | undefined;

  private readonly client = {
    evalSha: (name: string, { keys, arguments: args }: { keys: string[]; arguments: string[] }) =>
      this.reply({ name, keys, args }),
    zRem: (key: string, member: string) => this.reply({ name: 'ZREM', keys: [key], args: [member] }),
    scriptLoad: (source: string) => this.reply({ name: 'SCRIPT LOAD', keys: [], args: [source] }),
  } as unknown as RedisClient;

  /** The commands of one script, or of one name. */
  of(command: RedisScript | string): Sent[] {
    const name = typeof command === 'string' ? command : (Reflect.get(command, 'hash') as string);
    return this.sent.filter((sent) => sent.name === name);
  }

  argsOf(command: RedisScript | string): (readonly string[])[] {
    return this.of(command).map(({ args }) => args);
  }

  comeBack(): void {
    this.isUnavailable = false;
    this.failure = undefined;
    this.notifyAvailable();
  }

  goAway(failure: Error): void {
    this.isUnavailable = true;
    this.failure = failure;
    this.notifyUnavailable();
  }

  isUnavailableFor(): boolean {
    return this.isUnavailable;
  }

  availableForMs(): number {
    return Infinity;
  }

  async runOnEach(commands: Commands<unknown>): Promise<void> {
    await this.send('', commands);
  }

  check(): Promise<void> {
    return Promise.resolve();
  }

  onModuleInit(): Promise<void> {
    return Promise.resolve();
  }

  onApplicationShutdown(): Promise<void> {
    return Promise.resolve();
  }

  protected async send<T>(key: string, commands: Commands<T>): Promise<T> {
    this.slots.push(key);
    if (this.failure !== undefined) throw this.failure;
    if (this.redirection !== undefined) await this.redirection;
    return commands(this.client);
  }

  private reply(command: Sent): Promise<unknown> {
    this.sent.push(command);
    return Promise.resolve(this.answer(command));
  }
}
