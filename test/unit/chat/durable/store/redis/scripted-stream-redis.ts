import { streamKeys } from '../../../../../../src/chat/durable/store/redis/stream-keys.js';
import { CLAIM, ENTER, RESTORE, WRITE } from '../../../../../../src/chat/durable/store/redis/stream-scripts.js';
import type { RedisScript } from '../../../../../../src/redis/redis-script.js';
import { FakeStreamRedis, type StreamCommand } from './fake-stream-redis.js';

export const ADDRESS = { locator: '0a'.repeat(16), secret: Buffer.alloc(32, 7) };
export const GENERATION = 'generation-1';
export const KEYS = streamKeys(ADDRESS.locator, GENERATION);

type Answer = (command: StreamCommand) => unknown;

/** A Redis where every claim, place and write succeeds, until the test gives other answers. */
export class ScriptedStreamRedis extends FakeStreamRedis {
  private readonly answers = new Map<string, Answer>();

  constructor() {
    super();
    this.on(CLAIM, () => []);
    this.on(ENTER, () => 1);
    this.on(WRITE, () => 'ok');
    this.on(RESTORE, () => 'ok');
    this.on('pExpire', () => 1);
    this.on('set', () => '1');
    this.on('sendCommand', () => null);
  }

  on(command: RedisScript | string, answer: Answer): void {
    this.answers.set(nameOf(command), answer);
  }

  override of(command: RedisScript | string): StreamCommand[] {
    return this.sent.filter(({ name }) => name === nameOf(command));
  }

  protected override answerTo(command: StreamCommand): unknown {
    return (this.answers.get(command.name) ?? this.answer)(command);
  }
}

/** The reasons of rejections that nobody handled during the work. */
export async function unhandledIn(work: () => unknown): Promise<unknown[]> {
  const reasons: unknown[] = [];
  const hear = (reason: unknown): void => {
    reasons.push(reason);
  };
  process.on('unhandledRejection', hear);
  await work();
  // Node tells of them after the microtasks of a turn of its event loop.
  for (let turns = 0; turns < 3; turns++) await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', hear);
  return reasons;
}

function nameOf(command: RedisScript | string): string {
  return typeof command === 'string' ? command : (Reflect.get(command, 'hash') as string);
}
