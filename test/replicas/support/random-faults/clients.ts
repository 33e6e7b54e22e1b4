import { setTimeout as sleep } from 'node:timers/promises';
import { ApiKeysService } from '../../../../src/accounts/api-keys/api-keys.service.js';
import { hold, Violation } from '../../../support/invariants.js';
import { ENDED_WITHIN_MS } from '../../../support/known-within.js';
import type { SeededRandom } from '../../../support/seeded-random.js';
import type { Replicas } from '../replicas.js';
import { Question } from './question.js';
import type { Requests, Sent } from './requests.js';
import { CHAT_STREAM, DURABLE_STREAM, SURFACES, WHOLE } from './surfaces.js';

/** The contract. */
const REFUSED_WITHIN_MS = 1_000;
const REVOKED_STREAM_ENDS_WITHIN_MS = 2_000;
/** A replica that answers its health later has no time to tell its streams. */
const BUSY_MS = 100;
const LOOK_EVERY_MS = 100;
/** This process is the network of the replicas. If it is busy for so long, the database is silent, and counts as unavailable. */
const SILENT_MS = 1_500;
/** After a fault, a replica may need this time until it knows what others have changed. */
const RECOVERED_MS = 5_000;
const MAX_CUTS = 4;
/** Everything works by then, and every client has its answer. */
const ANSWERED_WITHIN_MS = 90_000;

/** What a client of one idempotency key was told at the end of a stream. */
export interface StreamEnd {
  readonly question: string;
  readonly streamId: string;
  readonly end: string;
  readonly text: string;
}

/** The end of a reader who can come again for the end of the stream. A replica that stops ends its streams with `shutting_down`. */
const OF_READER = 'unavailable';

export interface Account {
  readonly accountId: string;
  readonly key: string;
}

/** Clients that never give up, each with requests of its own kind, until this moment of the monotonic clock. */
export class Clients {
  readonly ends: StreamEnd[] = [];
  /** How often a key was revoked at a replica that had to notice. */
  revocations = 0;
  private names = 0;

  constructor(
    private readonly requests: Requests,
    private readonly replicas: Replicas,
    private readonly until: number,
  ) {}

  /** Streams and whole answers on all surfaces. Some clients leave. */
  plain(random: SeededRandom, { key }: Account, who: string): Promise<void> {
    return this.repeat(random, who, async (question) => {
      const leaveAfterMs = random.chance(0.15) ? random.between(0, 3_000) : undefined;
      const surface = random.pick(SURFACES);
      await this.requests.send(this.requests.anyMember(random), { surface, question, key, leaveAfterMs });
    });
  }

  /** A stream that two clients read, one of them in pieces at any replica. A third one reads it when it is over. */
  durable(random: SeededRandom, { key }: Account): Promise<void> {
    return this.repeat(random, 'durable', async (question) => {
      const readers = [this.readInPieces(random.fork(), key, question, random.between(0, MAX_CUTS))];
      if (random.chance(0.5)) readers.push(this.readInPieces(random.fork(), key, question, 0));
      await Promise.all(readers);
      if (random.chance(0.5)) await this.readInPieces(random.fork(), key, question, 0);
    });
  }

  /** A whole answer that the client asks for until it has one. */
  durableWhole(random: SeededRandom, { key }: Account): Promise<void> {
    return this.repeat(random, 'whole', async (question) => {
      const surface = random.pick(WHOLE);
      const headers = { 'idempotency-key': question };
      for (;;) {
        this.checkTime(question);
        const leaveAfterMs = random.chance(0.2) ? random.between(0, 3_000) : undefined;
        const member = this.requests.anyMember(random);
        const { status, said } = await this.requests.send(member, { surface, question, key, headers, leaveAfterMs });
        if (said !== undefined || status === 502 || status === 504) return;
        // The provider refuses.
        if (new Question(question).end === 'refuse' && status === 503) return;
        await sleep(random.between(0, 1_000));
      }
    });
  }

  /** Keys that are revoked while their streams run. */
  revoked(random: SeededRandom, { accountId }: Account): Promise<void> {
    return this.repeat(random, 'revoked', async (question) => {
      const keys = this.replicas.accounts.get(ApiKeysService);
      const { id, key } = await keys.create(accountId, { name: question });
      const mayBe = [401];
      const running = [0, 1].map(() =>
        this.requests.send(this.requests.anyMember(random), { surface: CHAT_STREAM, question, key, mayBe }),
      );
      await sleep(random.between(100, 2_000));
      await keys.revoke(id);
      const revokedAt = performance.now();
      const slowest = this.requests.slowestHealth(Promise.all(running), LOOK_EVERY_MS);
      await sleep(REFUSED_WITHIN_MS);
      const [again, ...ended] = await Promise.all([
        this.requests.send(this.requests.anyMember(random), { surface: CHAT_STREAM, question, key, mayBe }),
        ...running,
      ]);
      const slowestMs = await slowest;
      const limitMs = slowestMs > BUSY_MS ? ENDED_WITHIN_MS : REVOKED_STREAM_ENDS_WITHIN_MS;
      for (const sent of ended) {
        const isLate = sent.to - revokedAt > limitMs && !isExcused(sent, revokedAt);
        hold('revoked in time', !isLate, () => `${sent.requestId} ends ${sent.to - revokedAt} ms later`);
      }
      if (isExcused(again, revokedAt) || slowestMs > SILENT_MS) return;
      this.revocations += 1;
      const facts = (): string => {
        const { requestId, member, from } = again;
        const faults = member.faults.filter(({ to }) => to > revokedAt - 30_000);
        return `${requestId} at replica ${member.number} is accepted ${from - revokedAt} ms later: ${JSON.stringify(faults)}`;
      };
      hold('revoked in time', again.status !== 200, facts);
    });
  }

  private async readInPieces(random: SeededRandom, key: string, question: string, cuts: number): Promise<void> {
    const whole = new Question(question).text;
    let text = '';
    let lastId: string | undefined;
    let streamId: string | undefined;
    for (let attempt = 0; ; attempt++) {
      this.checkTime(question);
      const byId = streamId !== undefined && random.chance(0.5) ? streamId : undefined;
      const sent = await this.requests.send(this.requests.anyMember(random), {
        surface: DURABLE_STREAM,
        ...{ question, key, streamId: byId },
        headers: {
          ...(byId === undefined && { 'idempotency-key': question }),
          ...(lastId !== undefined && { 'last-event-id': lastId }),
        },
        leaveAfterMs: attempt < cuts ? random.between(0, 2_000) : undefined,
        mayBe: [400, 404],
      });
      const { status, said } = sent;
      if (status === 400 || status === 404) {
        // The stream is not kept: it was lost before a second reader came, or Redis was emptied. The client begins anew.
        [text, lastId, streamId] = ['', undefined, undefined];
        continue;
      }
      if (said === undefined) {
        if (status === 502 || status === 504) return;
        if (new Question(question).end === 'refuse' && status === 503) return;
        await sleep(random.between(0, 1_000));
        continue;
      }
      if (streamId !== undefined && sent.streamId !== streamId) {
        throw new Violation('one call a key', `${question} has the streams ${streamId} and ${sent.streamId}`);
      }
      ({ streamId } = sent);
      text += said.text;
      lastId = said.lastId ?? lastId;
      hold('text is a prefix', whole.startsWith(text), () => `${sent.requestId} has ${text} of ${whole}`);
      const { end } = said;
      if (end === undefined || end === OF_READER) continue;
      hold(
        'text is a prefix',
        end !== 'done' || text === whole,
        () => `${sent.requestId} ends with ${text} of ${whole}`,
      );
      this.ends.push({ question, streamId: streamId ?? '', end, text });
      return;
    }
  }

  /** @throws {Violation} when a client still has no answer long after the last fault. */
  private checkTime(question: string): void {
    const history = (): string => {
      const sent = this.requests.all.filter(({ asked }) => asked.question === question);
      const shown = sent.map(({ member, status, code, said, from, to }) =>
        [member.number, Math.round(from - this.until), Math.round(to - from), status, code, said?.end].join(' '),
      );
      return `${question} (${new Question(question).end}) has no answer: ${shown.slice(-30).join(', ')}`;
    };
    hold('every request ends', performance.now() < this.until + ANSWERED_WITHIN_MS, history);
  }

  private async repeat(random: SeededRandom, who: string, one: (question: string) => Promise<void>): Promise<void> {
    while (performance.now() < this.until) {
      await one(`${who}-${++this.names}`);
      await sleep(random.between(0, 300));
    }
  }
}

/** Whether the replica could not know of the revocation. */
function isExcused({ member, to }: Sent, revokedAt: number): boolean {
  return member.hadFault(revokedAt - RECOVERED_MS, to, ['postgres', 'process']);
}
