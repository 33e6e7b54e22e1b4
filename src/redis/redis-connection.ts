import type { OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import { createClient } from '@redis/client';
import { OutageLog } from './outage-log.js';
import { isUnknownScript, RedisAway } from './redis-away.js';
import { within } from '../common/within.js';

export type RedisClient = ReturnType<typeof openClient>;

/** A command waits this long for its answer, so that a request never waits for a Redis that is stuck. */
const COMMAND_WAIT_MS = 250;
const CONNECT_TIMEOUT_MS = 2000;
/** A connection on which nothing moves is given up, also while it is being set up. Pings move it otherwise. */
const SILENCE_LIMIT_MS = 5000;
const PING_EVERY_PROBES = 4;
/** Of commands that are sent and not answered. */
const MAX_UNANSWERED = 20_000;
/** After so many answers in a row that did not come, nobody waits any more. */
const LATE_ANSWERS = 3;
const PROBE_EVERY_MS = 500;
const RECONNECT_MOST_MS = 1000;

/**
 * The one connection of this process to Redis. Reconnects by itself, and is known to be away while it does: commands then
 * fail at once instead of waiting in a queue.
 */
export class RedisConnection implements OnModuleInit, OnApplicationShutdown {
  /** For libraries that bring their own commands. Call them inside {@link run}, which bounds their wait. */
  readonly client: RedisClient;
  private readonly log = new OutageLog();
  private readonly onBack: (() => void)[] = [];
  private readonly onAway: (() => void)[] = [];
  private probing: NodeJS.Timeout | undefined;
  private probes = 0;
  private lateAnswers = 0;
  private lastFailure = 'not connected yet';
  private isUsable = false;
  private isClosed = false;

  constructor(url: string) {
    this.client = openClient(url);
    this.client.on('error', (error: unknown) => {
      if (error instanceof Error) this.goAway(reasonOf(error));
    });
    this.client.on('ready', () => void this.probe());
  }

  get isAway(): boolean {
    return !this.isUsable || !this.client.isReady;
  }

  /** Called whenever Redis is there again, the first time included. */
  whenBack(listener: () => void): void {
    this.onBack.push(listener);
  }

  whenAway(listener: () => void): void {
    this.onAway.push(listener);
  }

  /** Does not fail when Redis is away: the process starts, and serves, without it. */
  async onModuleInit(): Promise<void> {
    this.connect();
    await within(this.firstReady(), CONNECT_TIMEOUT_MS, () => new Error('no answer')).catch((error: unknown) => {
      if (this.isAway) this.log.away(`${this.lastFailure}, ${reasonOf(error)}`);
    });
  }

  /**
   * The outcome of commands on the client, within a bounded time.
   *
   * @throws {RedisAway}
   * @example const count = await redis.run((client) => client.zCard('replicas'));
   */
  async run<T>(commands: (client: RedisClient) => Promise<T>): Promise<T> {
    if (this.isAway) throw new RedisAway(this.lastFailure, false);
    try {
      const outcome = await within(
        commands(this.client),
        COMMAND_WAIT_MS,
        () => new RedisAway('no answer in time', true),
      );
      this.lateAnswers = 0;
      return outcome;
    } catch (error) {
      // Libraries also reject with what is no error, such as the refusal of a rate limiter.
      if (!(error instanceof Error) || isUnknownScript(error)) throw error;
      this.noteFailure(error);
      throw error instanceof RedisAway ? error : new RedisAway(reasonOf(error), true, { cause: error });
    }
  }

  async onApplicationShutdown(): Promise<void> {
    this.isClosed = true;
    clearInterval(this.probing);
    this.log.end();
    if (!this.client.isOpen) return;
    // Answers what is under way first, which a Redis that is stuck would never do.
    await within(this.client.close(), COMMAND_WAIT_MS, () => new Error('no answer')).catch(() => {
      if (this.client.isOpen) this.client.destroy();
    });
  }

  private connect(): void {
    // It tries until it is closed, so that this rejects then only; each failure is an `error` event.
    this.client.connect().catch(() => undefined);
    this.probing ??= setInterval(() => void this.look(), PROBE_EVERY_MS).unref();
  }

  private async firstReady(): Promise<void> {
    if (this.isAway) await new Promise<void>((resolve) => this.onBack.push(resolve));
  }

  private async look(): Promise<void> {
    if (!this.isUsable) await this.probe();
    else if (this.probes++ % PING_EVERY_PROBES === 0) await this.run((client) => client.ping()).catch(() => undefined);
  }

  /** Requests never find out whether Redis is back: this does. */
  private async probe(): Promise<void> {
    if (this.isUsable || this.isClosed || !this.client.isReady) return;
    try {
      await within(this.client.ping(), COMMAND_WAIT_MS, () => new RedisAway('no answer in time', true));
    } catch (error) {
      this.lastFailure = reasonOf(error);
      this.reconnect();
      return;
    }
    this.comeBack();
  }

  private noteFailure(error: Error): void {
    this.lateAnswers += 1;
    const isLate = error instanceof RedisAway;
    if (isLate && this.lateAnswers < LATE_ANSWERS) return;
    this.goAway(reasonOf(error));
    // Who does not answer on this connection may do so on another one.
    if (isLate) this.reconnect();
  }

  private reconnect(): void {
    if (this.isClosed || !this.client.isReady) return;
    this.client.destroy();
    this.connect();
  }

  private goAway(reason: string): void {
    this.lastFailure = reason;
    if (this.isClosed || !this.isUsable) return;
    this.isUsable = false;
    this.log.away(reason);
    for (const listener of this.onAway) listener();
  }

  private comeBack(): void {
    if (this.isUsable) return;
    this.isUsable = true;
    this.lateAnswers = 0;
    this.log.back();
    for (const listener of this.onBack) listener();
  }
}

function openClient(url: string) {
  return createClient({
    url,
    // What cannot be sent now fails now.
    disableOfflineQueue: true,
    commandsQueueMaxLength: MAX_UNANSWERED,
    socket: {
      connectTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: SILENCE_LIMIT_MS,
      reconnectStrategy: (retries) => Math.min(50 * 2 ** retries, RECONNECT_MOST_MS) * (0.5 + Math.random() / 2),
    },
  });
}

function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return reasonOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}
