import type { INestApplicationContext } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { hold } from '../../../support/invariants.js';
import { waitFor } from '../../../support/wait-for.js';
import type { Account, StreamEnd } from './clients.js';
import type { Fleet, Member } from './fleet.js';
import type { Answers } from './question.js';
import type { Sent } from './requests.js';

/** The records of a killed replica are written when it counts as dead, and slots expire after 25 s. */
const AT_REST_WITHIN_MS = 120_000;
/** A call that begins while PostgreSQL is unavailable has no intent until then. */
const INTENT_WITHIN_MS = 3_000;
/** A stream without a client can run on for so long, and a record can wait so long for the time limit of a dead connection. */
const LATER_MS = 20_000;
/** For how long the end of a process can matter to a call, in the description of a call. */
const SHOWN_MS = 60_000;
/** Until an admission has become a call, and a replica knows that its Redis is unavailable or back. */
const ADMITTED_WITHIN_MS = 3_000;
/** Until all replicas have renewed their leases in a Redis that was emptied. */
const RENEWED_WITHIN_MS = 10_000;
/** Until the others know that a replica was killed. */
const KNOWS_END_MS = 20_000;
/** Until the others know of a new replica, two heartbeats. */
const KNOWS_START_MS = 2_000;
/** A slot may be free before the provider notices the end of its call. */
const NOTICED_WITHIN_MS = 100;

interface RecordRow {
  readonly request_id: string;
  readonly outcome: string;
}

/** Checks what remains after a run, and what all clients together were told. */
export class Judge {
  constructor(
    private readonly fleet: Fleet,
    private readonly answers: Answers,
  ) {}

  /** @throws {Violation} when the account has spent or reserved too much. */
  async checkBudget({ accountId }: Account, budget: number): Promise<void> {
    const [row] = await this.query<{ spent: number; reserved: number }>(
      `SELECT (SELECT COALESCE(SUM(cost_micros), 0) FROM usage_days WHERE account_id = $1) AS spent,
        (SELECT COALESCE(SUM(micros), 0) FROM budget_holds WHERE account_id = $1) AS reserved`,
      [accountId],
    );
    const used = Number(row?.spent) + Number(row?.reserved);
    hold('spent + reserved ≤ budget', used <= budget * 1e6 + 1e-3, () => `${JSON.stringify(row)} of ${budget}`);
  }

  /** Waits until no stream runs and nothing is held. @throws {Violation} when something stays. */
  async checkRest(): Promise<void> {
    const { stores } = this.fleet;
    const held = async (): Promise<Record<string, unknown>> => {
      const [rows] = await this.query<Record<string, unknown>>(
        `SELECT (SELECT COUNT(*)::int FROM usage_intents) AS intents, (SELECT COUNT(*)::int FROM budget_holds) AS holds`,
      );
      let slots = 0;
      for await (const keys of stores.redis.client.scanIterator({ MATCH: 'chat:{*}:streams' })) {
        for (const key of keys) slots += await stores.redis.client.zCard(key);
      }
      return { ...rows, slots };
    };
    let last: Record<string, unknown> = {};
    await waitFor(
      async () => Object.values((last = await held())).every((count) => count === 0),
      'rest',
      AT_REST_WITHIN_MS,
    ).catch(() => undefined);
    hold('reserved = 0 at rest', last['holds'] === 0, () => JSON.stringify(last));
    hold('one record a call', last['intents'] === 0, () => JSON.stringify(last));
    hold('slots ≤ limit', last['slots'] === 0, () => JSON.stringify(last));
  }

  /**
   * A replica that has Redis admits by the limit. Without Redis, it admits its share in addition.
   *
   * @param who asks, each question once.
   * @throws {Violation} when more calls were open at the same time.
   */
  checkSlots(who: string, slots: number, all: readonly Sent[]): void {
    const memberOf = new Map(all.map(({ asked, member }) => [asked.question, member]));
    const calls = this.answers.calls.flatMap((call) => {
      const member = memberOf.get(call.question);
      if (member === undefined || !call.question.startsWith(`${who}-`)) return [];
      const wasEmptied = member.faults.some(
        ({ what, from, to }) => what === 'FLUSHDB' && from <= call.from && to >= call.from - RENEWED_WITHIN_MS,
      );
      const hadRedis = !wasEmptied && !member.hadFault(call.from - ADMITTED_WITHIN_MS, call.from, ['redis', 'process']);
      return [{ ...call, member, hadRedis, wasEmptied }];
    });
    for (const { from } of calls) {
      const open = calls.filter((call) => call.from <= from && call.to > from + NOTICED_WITHIN_MS);
      const byRedis = open.filter(({ hadRedis }) => hadRedis).length;
      const facts = (): string =>
        `${open.length} calls are open, ${byRedis} of them admitted by Redis: ${open.map(({ question }) => historyOf(all, question)).join('; ')}`;
      hold('slots ≤ limit', byRedis <= slots, facts);
      if (open.some(({ wasEmptied }) => wasEmptied)) continue;
      const alone = new Set(open.flatMap(({ hadRedis, member }) => (hadRedis ? [] : [member])));
      const first = Math.min(...open.map((call) => call.from));
      const admitted = [...alone].map((member) => this.shareOf(member, slots, first, from));
      const most = admitted.reduce((sum, share) => sum + share, slots);
      hold('slots ≤ limit', open.length <= most, facts);
    }
  }

  /** What a replica may have admitted without Redis in this time: the limit divided by the number of replicas that it knew. */
  private shareOf(replica: Member, slots: number, from: number, to: number): number {
    const isNew = (member: Member): boolean => member.startedAt.some((at) => at <= to && at >= from - KNOWS_START_MS);
    // A replica that has just started knows the others from Redis or from PostgreSQL.
    if (isNew(replica) && replica.hadFault(from - KNOWS_START_MS, to, ['postgres'])) return slots;
    const known = this.fleet.members.filter(
      (member) => member === replica || !(isNew(member) || member.hadFault(from - KNOWS_END_MS, to, ['process'])),
    );
    return Math.ceil(slots / known.length);
  }

  /**
   * Waits for the records: a replica can have several connections to PostgreSQL that are dead, and finds each one after 15 seconds.
   *
   * @throws {Violation} when a call has no record, or a record has no call.
   */
  async checkRecords(all: readonly Sent[]): Promise<void> {
    await waitFor(
      async () => this.withoutRecord(await this.records(), all) === undefined,
      'records',
      AT_REST_WITHIN_MS,
    ).catch(() => undefined);
    const rows = await this.records();
    const missing = this.withoutRecord(rows, all);
    hold('one record a call', missing === undefined, () => missing ?? '');
    const records = countBy(rows, ({ request_id }) => questionOf(request_id));
    const requests = countBy(all, ({ asked }) => asked.question);
    for (const [question, found] of records) {
      const sent = requests.get(question) ?? 0;
      hold('one record a call', found <= sent, () => `${question} has ${found} records for ${sent} requests`);
    }
    for (const [requestId, found] of countBy(rows, ({ request_id }) => request_id)) {
      hold('one record a call', found === 1, () => `${requestId} has ${found} records`);
    }
  }

  /** Describes a call that has no record. */
  private withoutRecord(rows: readonly RecordRow[], all: readonly Sent[]): string | undefined {
    const records = countBy(rows, ({ request_id }) => questionOf(request_id));
    for (const [question, calls] of countBy(this.answers.calls, (call) => call.question)) {
      const found = records.get(question) ?? 0;
      if (calls <= found || all.some((sent) => sent.asked.question === question && mayHaveNoIntent(sent))) continue;
      return `${question} has ${calls} calls and ${found} records: ${historyOf(all, question)}`;
    }
    return undefined;
  }

  private records(): Promise<RecordRow[]> {
    return this.query<RecordRow>('SELECT request_id, outcome FROM usage_records');
  }

  /** @throws {Violation} when two readers of one stream have different ends, or one key has two complete answers. */
  async checkStreams(ends: readonly StreamEnd[], flushes: boolean, all: readonly Sent[]): Promise<void> {
    const byStream = new Map<string, StreamEnd>();
    for (const end of ends) {
      const first = byStream.get(end.streamId) ?? end;
      byStream.set(end.streamId, first);
      hold('one end', first.end === end.end, () => `${end.question} ends with ${first.end} and ${end.end}`);
    }
    // A Redis that was emptied has forgotten the answers.
    if (flushes) return;
    const rows = await this.query<RecordRow>(
      `SELECT request_id, outcome FROM usage_records WHERE outcome = 'completed'`,
    );
    for (const [question, completed] of countBy(rows, ({ request_id }) => questionOf(request_id))) {
      if (!/^(durable|whole)-/.test(question)) continue;
      hold(
        'one call a key',
        completed <= 1,
        () => `${question} has ${completed} complete answers: ${historyOf(all, question)}`,
      );
    }
  }

  checkOutput(): void {
    const lines = this.fleet.output.split('\n').filter((line) => /internal_error|Unhandled/.test(line));
    hold('no internal error', lines.length === 0, () => `${lines.length} lines, such as ${lines[0]?.slice(0, 1500)}`);
  }

  private async query<Row>(sql: string, values: unknown[] = []): Promise<Row[]> {
    const accounts: INestApplicationContext = this.fleet.replicas.accounts;
    return accounts.get(DataSource).query<Row[]>(sql, values);
  }
}

/** Whether the process that has made the call ended while it could not write to the database. */
function mayHaveNoIntent({ member, from, to }: Sent): boolean {
  const ends = member.faults.filter(
    ({ what, ...fault }) =>
      what.startsWith('SIG') && what !== 'SIGSTOP' && fault.from <= to + LATER_MS && fault.to >= from,
  );
  return ends.some((end) => member.hadFault(from - INTENT_WITHIN_MS, end.to, ['postgres']));
}

function historyOf(all: readonly Sent[], question: string): string {
  const times = ({ from, to }: { from: number; to: number }): string => `${Math.round(from)} to ${Math.round(to)}`;
  const shown = all
    .filter(({ asked }) => asked.question === question)
    .map(({ member, status, code, said, ...sent }) => {
      const faults = member.faults.filter(
        ({ part, from, to }) => from <= sent.to + (part === 'process' ? SHOWN_MS : 5_000) && to >= sent.from - 5_000,
      );
      const faultTexts = faults.map((fault) => `${fault.what} of ${fault.part} ${times(fault)}`);
      return `replica ${member.number} ${times(sent)}: ${status} ${code ?? said?.end}, with ${faultTexts.join(', ')}`;
    });
  return shown.join('; ');
}

function questionOf(requestId: string): string {
  return requestId.split('-').slice(0, 2).join('-');
}

export function countBy<T>(all: readonly T[], nameOf: (one: T) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const one of all) counts.set(nameOf(one), (counts.get(nameOf(one)) ?? 0) + 1);
  return counts;
}
