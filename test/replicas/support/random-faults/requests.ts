import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { hold, Violation } from '../../../support/invariants.js';
import { get, startStream, type ReceivedStream } from '../../../support/sse-client.js';
import type { Fleet, Member } from './fleet.js';
import { Question } from './question.js';
import type { Said, Surface } from './surfaces.js';

/** The longest wait for a head, an answer of 20 s, its time limits, and what faults and a busy machine add. */
const OVER_WITHIN_MS = 100_000;
/** More than any answer has. */
const MAX_TOKENS = 5_000;
/** The statuses that a client may get without being wrong. */
const STATUSES = [200, 429, 502, 503, 504];

/** A request to send. `leaveAfterMs`: when the client closes the connection. */
export interface Asked {
  readonly surface: Surface;
  readonly question: string;
  readonly key: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly leaveAfterMs?: number | undefined;
  /** Reads a durable stream by its id. */
  readonly streamId?: string | undefined;
  /** Statuses that are right for this request only. */
  readonly mayBe?: readonly number[];
}

/** One request, and what came of it. */
export interface Sent {
  readonly asked: Asked;
  readonly requestId: string;
  readonly member: Member;
  readonly from: number;
  readonly to: number;
  /** `undefined`: the connection failed before the head. */
  readonly status: number | undefined;
  readonly streamId: string | undefined;
  readonly code: string | undefined;
  readonly said: Said | undefined;
}

/** Sends requests to random replicas, and checks each response alone. */
export class Requests {
  readonly all: Sent[] = [];

  constructor(private readonly fleet: Fleet) {}

  /** @throws {Violation} when the response breaks the contract. */
  async send(member: Member, asked: Asked): Promise<Sent> {
    const requestId = `${asked.question}-${randomUUID()}`;
    const from = performance.now();
    const received = await this.exchange(member, asked, requestId);
    const sent = { asked, requestId, member, from, to: performance.now(), ...read(asked, received) };
    this.all.push(sent);
    check(sent, received);
    return sent;
  }

  private async exchange(member: Member, asked: Asked, requestId: string): Promise<ReceivedStream | undefined> {
    const { surface, question, key, leaveAfterMs, streamId } = asked;
    const headers = { 'x-request-id': requestId, ...asked.headers };
    const origin = member.replica?.origin;
    if (origin === undefined) {
      await sleep(200);
      return undefined;
    }
    const pending = startStream(origin, {
      ...{ key, headers },
      ...(streamId === undefined
        ? { path: surface.path, body: JSON.stringify(surface.body(question, MAX_TOKENS)) }
        : { path: `/api/v1/chat/streams/${streamId}`, method: 'GET' }),
    });
    const limit = new AbortController();
    const leaving = leaveAfterMs === undefined ? undefined : setTimeout(pending.leave, leaveAfterMs);
    const late = sleep(OVER_WITHIN_MS, undefined, { signal: limit.signal }).then(
      () => {
        pending.leave();
        throw new Violation(
          'every request ends',
          `${requestId} at replica ${member.number} takes ${OVER_WITHIN_MS} ms`,
        );
      },
      () => undefined,
    );
    try {
      const answered = pending.answer.then(async (answer) => {
        await answer.over;
        return answer;
      });
      return await Promise.race([answered.catch(() => undefined), late]);
    } finally {
      clearTimeout(leaving);
      limit.abort();
    }
  }

  /** Asks all replicas for their health again and again, until this is over. Returns the longest time to an answer. */
  async slowestHealth(pending: Promise<unknown>, everyMs: number): Promise<number> {
    const over = new AbortController();
    const end = (): void => {
      over.abort();
    };
    pending.then(end, end);
    let slowestMs = 0;
    while (!over.signal.aborted) {
      const from = performance.now();
      const origins = this.fleet.members.flatMap(({ replica }) => replica?.origin ?? []);
      await Promise.allSettled(origins.map((origin) => get(origin, '/api/v1/health')));
      slowestMs = Math.max(slowestMs, performance.now() - from);
      await sleep(everyMs);
    }
    return slowestMs;
  }

  /** The replica that answers next, mostly one that runs. */
  anyMember(random: { pick<T>(all: readonly T[]): T }): Member {
    const running = this.fleet.members.filter(({ replica }) => replica !== undefined);
    return random.pick(running.length > 0 ? running : this.fleet.members);
  }
}

function read(
  { surface }: Asked,
  received: ReceivedStream | undefined,
): Pick<Sent, 'status' | 'streamId' | 'code' | 'said'> {
  if (received === undefined) return { status: undefined, streamId: undefined, code: undefined, said: undefined };
  const { status, headers, raw } = received;
  const id = headers['x-stream-id'];
  const streamId = typeof id === 'string' ? id : undefined;
  if (status !== 200) return { status, streamId, code: /"code":"(\w+)"/.exec(raw)?.[1], said: undefined };
  const isWhole = headers['content-type']?.startsWith('application/json') === true;
  if (isWhole && Number(headers['content-length']) !== received.receivedBytes) {
    return { status, streamId, code: undefined, said: undefined };
  }
  return { status, streamId, code: undefined, said: surface.read(raw) };
}

function check({ asked, requestId, member, status, code, said }: Sent, received: ReceivedStream | undefined): void {
  const { text } = new Question(asked.question);
  const shown = (): string => `${requestId} at replica ${member.number}: ${status} ${received?.raw.slice(0, 500)}`;
  hold('no internal error', status !== 500 && code !== 'internal_error' && said?.end !== 'internal_error', shown);
  if (status !== undefined && ![...STATUSES, ...(asked.mayBe ?? [])].includes(status)) {
    throw new Violation('no internal error', shown());
  }
  // A part of a durable stream is checked by its reader.
  if (said === undefined || asked.headers?.['last-event-id'] !== undefined) return;
  hold('text is a prefix', text.startsWith(said.text), () => `${shown()} of ${text}`);
  hold('text is a prefix', said.end !== 'done' || said.text === text, () => `${shown()} ends as complete, of ${text}`);
}
