import { randomUUID } from 'node:crypto';
import type { Principal } from '../../../src/auth/principal/principal.js';
import type { ChatCaller } from '../../../src/chat/chat-caller.js';
import { headersDue } from '../../../src/chat/stream/deferred-headers.js';
import type { UsageRecord } from '../../../src/usage/record/usage-record.js';
import { hold } from '../../support/invariants.js';
import { checkOneOfAKey, type OfKey } from './one-of-a-key.js';
import { SimulatedAnswer, type AnswerPlan } from './simulated-answer.js';
import { StreamClient } from './stream-client.js';
import { checkEnds } from './stream-ends.js';
import type { StreamReplica } from './stream-replica.js';
import type { VirtualTime } from './virtual-time.js';
import { World } from './world.js';

/** The contract gives a head 30 s. One command for the claim, and one for the slot, may each take a second more. */
const HEAD_WITHIN_MS = 32_000;
/** Nothing in a stream takes longer once its stores work. */
const OVER_WITHIN_MS = 240_000;
/** Longer than an ended stream is kept, and than a stream without readers runs. */
const FORGOTTEN_WITHIN_MS = 400_000;
/** A claim without a living owner lasts for less, also after an outage, in which a replica takes no keys. */
const KEYS_FREE_WITHIN_MS = 45_000;
const ANSWERED_WITHIN_MS = 5_000;
/** A reader that comes when a stream has ended, and one that still waits for its end. */
const READ_WITHIN_MS = 70_000;
/** Within this time after Redis was emptied, each stream is written again, or its replica knows that another one has its key. */
const TAKEN_WITHIN_MS = 3_000;
/** Longer than most answers. */
const END_WITHIN_MS = 45_000;
const SHORT_ANSWER: AnswerPlan = { firstMs: 0, pieces: 1, pieceMs: 0, end: 'done' };

/** Clients of durable streams on several replicas, and what all of them have seen together. */
export class StreamWorld extends World<StreamReplica> {
  readonly clients: StreamClient[] = [];
  readonly answers: SimulatedAnswer[] = [];
  /** The answers whose record says that they are complete. */
  private readonly completed: OfKey[] = [];
  /** The answers that run, with the client whose replica generates each of them. */
  private readonly generated = new Map<SimulatedAnswer, StreamClient>();
  /** When Redis has lost everything. */
  private readonly emptiedAt: number[] = [];
  private readonly principal: Principal;

  /** @param flush removes everything from Redis. */
  constructor(
    time: VirtualTime,
    replicas: readonly StreamReplica[],
    private readonly flush: () => Promise<void> = () => Promise.resolve(),
  ) {
    super(time);
    this.replicas.push(...replicas);
    const credential = { kind: 'session', sessionId: 'session' };
    this.principal = { accountId: randomUUID(), tier: { name: 'free' }, credential } as Principal;
  }

  /** @param isRefused whether the limits of the account refuse the request after its claim. */
  async ask(number: number, key: string, plan: AnswerPlan, hasFacts = false, isRefused = false): Promise<void> {
    const replica = this.running(number);
    if (replica === undefined) return;
    const client = new StreamClient(this.time, replica, key, this.principal);
    this.clients.push(client);
    const name = `${key}#${this.clients.length}`;
    const open = async ({ onComplete, signal, waitedMs }: ChatCaller): Promise<never> => {
      const stop = (reason: Error): void => {
        answer.stop(reason);
      };
      const remove = replica.openStreams.add(this.principal, stop);
      const beganAtMs = this.time.nowMs;
      const answer = new SimulatedAnswer(this.time, name, plan, (failure) => {
        remove();
        this.generated.delete(answer);
        if (failure !== undefined) return;
        // If Redis was emptied before, the replica has told it of the stream again, or knows that another one has the key.
        const forgottenFrom = this.time.nowMs - TAKEN_WITHIN_MS - replica.owner.stoppedMs;
        const complete: OfKey = { name, key, beganAtMs, forgottenFrom };
        void onComplete?.({} as UsageRecord).then((refusal) => {
          if (refusal === undefined) this.completed.push(complete);
        });
      });
      this.answers.push(answer);
      this.generated.set(answer, client);
      signal.addEventListener('abort', () => {
        stop(signal.reason as Error);
      });
      await headersDue(answer.started, answer.accepted, waitedMs);
      return answer as never;
    };
    await this.time.as(replica.owner, () => {
      void client.ask(open, hasFacts, name, isRefused);
    });
  }

  /** Claims a key for a request that never comes to its answer. */
  async claimOnly(number: number, key: string): Promise<void> {
    const replica = this.running(number);
    if (replica === undefined) return;
    const client = new StreamClient(this.time, replica, key, this.principal);
    await this.time.as(replica.owner, () => {
      void client.claim();
    });
  }

  /** Asks a replica for a stream that a client knows, by its id. */
  async follow(number: number, index: number): Promise<void> {
    const known = this.clients.filter(({ streamId }) => streamId !== undefined);
    const first = known[index % Math.max(1, known.length)];
    if (first !== undefined) await this.followOf(number, first);
  }

  /** Returns the number of a replica that generates an answer now, or of the first one. */
  ownerAt(index: number): number {
    const owners = [...this.generated.values()].map(({ replica }) => replica);
    return Math.max(0, this.replicas.indexOf(owners[index % owners.length] as StreamReplica));
  }

  /** Lets the next replica read the latest stream that a replica has sent to a client. */
  async readElsewhere(number: number): Promise<void> {
    const replica = this.replicas[number];
    const first = this.clients.findLast((client) => client.replica === replica && client.streamId !== undefined);
    if (first !== undefined) await this.followOf(number + 1, first);
  }

  /** Returns the clients whose streams have begun within the last second, if no earlier fault can end these streams. */
  begun(): readonly StreamClient[] {
    const { nowMs } = this.time;
    // A stream that has lost its key to another one may not know this yet, and come back after the next restart.
    if (this.emptiedAt.some((at) => nowMs - at < TAKEN_WITHIN_MS)) return [];
    return [...this.generated.values()].filter(
      ({ askedAtMs, headAtMs, end, replica: { owner } }) =>
        nowMs - askedAtMs < 1_000 && headAtMs !== undefined && end === undefined && owner.stoppedUntil < nowMs,
    );
  }

  /** Waits until an answer of a replica has just ended, and its end is not stored yet. */
  async untilEnd(number: number): Promise<void> {
    const replica = this.replicas[number];
    const running = [...this.generated].filter(([, client]) => client.replica === replica).map(([answer]) => answer);
    await this.time.pass(END_WITHIN_MS, () => running.some((answer) => !this.generated.has(answer)));
  }

  async leave(index: number): Promise<void> {
    const client = this.clients[index % Math.max(1, this.clients.length)];
    if (client === undefined) return;
    await this.time.as(client.replica.owner, () => {
      client.leave();
    });
  }

  /** Asks a replica to cancel a stream that a client knows. */
  async cancel(number: number, index: number): Promise<void> {
    const replica = this.running(number);
    const known = this.clients.filter(({ streamId }) => streamId !== undefined);
    const id = known[index % Math.max(1, known.length)]?.streamId;
    if (id === undefined || replica === undefined) return;
    await this.time.as(replica.owner, () => {
      void (async () => {
        const stream = await replica.streams.find(id, this.principal);
        await stream.cancel();
      })().catch(() => undefined);
    });
  }

  /** Redis loses everything, as in a restart without its data. */
  async empty(): Promise<void> {
    this.emptiedAt.push(this.time.nowMs);
    await this.flush();
  }

  async check(): Promise<void> {
    await this.time.pass(OVER_WITHIN_MS, () => this.clients.every(({ isOver }) => isOver));
    await this.readAgain();
    for (const client of this.clients) {
      const { key, isOver, replica, askedAtMs } = client;
      hold('every request ends', isOver, () => `${key} of ${askedAtMs} is open at ${this.time.nowMs}`);
      const headAt = client.headAtMs ?? client.overAtMs;
      const isLate = headAt !== undefined && headAt - askedAtMs - replica.owner.stoppedMs > HEAD_WITHIN_MS;
      hold('every request ends', !isLate, () => `the head of ${key} of ${askedAtMs} comes at ${headAt}: ${client.end}`);
      hold('no internal error', client.end !== 'internal_error', () => key);
      this.checkText(client);
    }
    checkEnds(this.clients, this.emptiedAt);
    await this.checkKeys();
    this.checkCalls();
    await this.time.pass(FORGOTTEN_WITHIN_MS);
    for (const { store, memory } of this.alive) {
      const held = JSON.stringify({ ...store.counts, bytes: memory.used });
      hold('reserved = 0 at rest', store.counts.running === 0 && memory.used === 0, () => held);
    }
  }

  protected override onKilled(replica: StreamReplica): void {
    for (const client of this.clients) if (client.replica === replica && !client.isOver) client.hasLeft = true;
  }

  /** Each stream is the same for who comes later, at every replica. */
  private async readAgain(): Promise<void> {
    const firsts = new Map(this.clients.map((client) => [client.streamId, client]));
    firsts.delete(undefined);
    for (const client of firsts.values()) {
      for (const number of this.replicas.keys()) {
        await this.followOf(number, client);
        await this.time.pass(READ_WITHIN_MS, () => this.clients.every(({ isOver }) => isOver));
      }
    }
  }

  private async followOf(number: number, { key, streamId }: StreamClient): Promise<void> {
    const replica = this.running(number);
    if (replica === undefined || streamId === undefined) return;
    const client = new StreamClient(this.time, replica, key, this.principal);
    this.clients.push(client);
    await this.time.as(replica.owner, () => {
      void client.follow(streamId);
    });
  }

  /** No key is left without a stream: who asks gets the stream of the key, or begins one. */
  private async checkKeys(): Promise<void> {
    await this.time.pass(KEYS_FREE_WITHIN_MS);
    const keys = new Set(this.clients.map(({ key }) => key));
    const asked = this.clients.length;
    for (const key of keys) await this.ask(0, key, SHORT_ANSWER);
    await this.time.pass(ANSWERED_WITHIN_MS);
    for (const { key, headAtMs, end } of this.clients.slice(asked)) {
      hold('every request ends', headAtMs !== undefined, () => `${key} is not free: ${end}`);
    }
  }

  private checkText(client: StreamClient): void {
    const { key, text, end, head } = client;
    if (client.streamId === undefined || text === '') return;
    const name = text.split('.')[0];
    const answer = this.answers.find((each) => each.name === name);
    const facts = (): string => `${key} has ${text} after the head ${head}, ${end}, of ${answer?.text}`;
    hold('text is a prefix', answer !== undefined && answer.text.startsWith(text), facts);
    hold('text is a prefix', head === undefined || head === name, facts);
    hold('text is a prefix', end !== 'done' || text === answer?.text, facts);
  }

  private checkCalls(): void {
    checkOneOfAKey('complete answers', this.completed, this.emptiedAt);
    const streams = new Map<string, OfKey>();
    for (const { key, streamId, askedAtMs, headAtMs } of this.clients) {
      if (streamId === undefined || headAtMs === undefined || streams.has(streamId)) continue;
      streams.set(streamId, { name: streamId, key, beganAtMs: headAtMs, forgottenFrom: askedAtMs });
    }
    checkOneOfAKey('streams', [...streams.values()], this.emptiedAt);
  }
}
