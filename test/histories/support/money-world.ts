import type { Principal } from '../../../src/auth/principal/principal.js';
import type { ChatCaller } from '../../../src/chat/chat-caller.js';
import { CLIENT_GONE } from '../../../src/upstreams/completion/part-stream.js';
import type { CallTrace } from '../../../src/upstreams/completion/call-trace.js';
import type { FailoverStream } from '../../../src/upstreams/routing/failover-stream.js';
import type { ConversationRequest } from '../../../src/upstreams/contract/conversation.js';
import { toServiceError } from '../../../src/platform/http/errors/to-service-error.js';
import { hold, Violation } from '../../support/invariants.js';
import type { SeededRandom } from '../../support/seeded-random.js';
import { Link, type LinkState } from './link.js';
import { MoneyReplica } from './money-replica.js';
import { SimulatedAnswer, type AnswerPlan } from './simulated-answer.js';
import { SimulatedDatabase, type SharedDatabase } from './simulated-database.js';
import type { VirtualTime } from './virtual-time.js';
import { SimulatedProcess, World } from './world.js';

const ACCOUNT = 'ada';
const INPUT_TOKENS = 3;
const OVER_WITHIN_MS = 120_000;
const CALLED_WITHIN_MS = 500;
/** A killed replica counts as dead after 60 s, and the next check comes within 10 s. */
const AT_REST_WITHIN_MS = 100_000;
/** After an outage, the ledger tries to write again after one second. Until then, streams do not wait for their intent. */
const INTENTS_AGAIN_MS = 3_000;

/** One request, and what came of it. */
interface Completion {
  readonly requestId: string;
  readonly replica: MoneyReplica;
  readonly left: AbortController;
  /** `undefined` until the provider is called. */
  call: { readonly mayLackIntent: boolean; readonly tokens: number; isComplete: boolean } | undefined;
  /** `done`, or the code of a failure. */
  end: string | undefined;
}

/** Requests of one account with a budget to several replicas, and the provider, who knows what was called. */
export class MoneyWorld extends World<MoneyReplica> {
  private readonly completions: Completion[] = [];
  private readonly upSince: number[] = [];
  private readonly violations: Violation[] = [];
  private plan: AnswerPlan = { firstMs: 0, pieces: 1, pieceMs: 0, end: 'done' };

  constructor(
    time: VirtualTime,
    private readonly shared: SharedDatabase,
    private readonly random: SeededRandom,
    private readonly budgetMicros: number,
  ) {
    super(time);
  }

  async add(): Promise<void> {
    const number = this.replicas.length;
    const owner = new SimulatedProcess();
    const database = new SimulatedDatabase(this.time, new Link(this.time, owner, this.random), this.shared, () => {
      this.checkBudget();
    });
    const replica = new MoneyReplica(this.time, owner, database, `host-${number}`, (_, request, trace, end) =>
      this.answer(number, request.messages[0]?.content as string, request.maxTokens ?? 0, trace, end),
    );
    this.replicas.push(replica);
    this.upSince.push(-Infinity);
    await this.time.as(owner, () => void replica.start());
  }

  /** Sends some requests, all at once or one after the other. */
  async ask(number: number, count: number, everyMs: number, maxTokens: number, plan: AnswerPlan): Promise<void> {
    const replica = this.running(number);
    if (replica === undefined) return;
    this.plan = plan;
    await this.time.as(replica.owner, () => {
      for (let sent = 0; sent < count; sent++) {
        this.time.after(sent * everyMs, () => {
          void this.send(replica, maxTokens);
        });
      }
    });
  }

  /** Kills a replica when it calls the provider. */
  async killAtCall(number: number): Promise<void> {
    const replica = this.replicas[number];
    const calls = (): number => this.completions.filter((each) => each.replica === replica && each.call).length;
    const before = calls();
    await this.time.pass(CALLED_WITHIN_MS, () => calls() > before);
    if (calls() > before) this.kill(number);
  }

  async leave(index: number): Promise<void> {
    const running = this.completions.filter(({ end }) => end === undefined);
    const completion = running[index % Math.max(1, running.length)];
    if (completion === undefined) return;
    await this.time.as(completion.replica.owner, () => {
      completion.left.abort();
    });
  }

  override async link(number: number, state: LinkState): Promise<void> {
    await super.link(number, state);
    this.upSince[number] = state === 'up' ? this.time.nowMs : Infinity;
  }

  async check(): Promise<void> {
    await this.time.pass(OVER_WITHIN_MS, () => this.completions.every(({ end }) => end !== undefined));
    const [violation] = this.violations;
    if (violation !== undefined) throw violation;
    for (const { requestId, end } of this.completions) {
      hold('every request ends', end !== undefined, () => requestId);
      hold('no internal error', end !== 'internal_error', () => requestId);
    }
    await this.time.pass(AT_REST_WITHIN_MS);
    const holds = this.shared.rows('SELECT * FROM budget_holds');
    hold('reserved = 0 at rest', holds.length === 0, () => JSON.stringify(holds));
    this.checkIntents();
    this.checkRecords();
  }

  protected override onKilled(replica: MoneyReplica): void {
    for (const completion of this.completions) if (completion.replica === replica) completion.end ??= 'killed';
  }

  private checkBudget(): void {
    const [use] = this.shared.rows<{ spent: number; reserved: number }>(
      `SELECT (SELECT COALESCE(SUM(cost_micros), 0) FROM usage_days) AS spent,
        (SELECT COALESCE(SUM(micros), 0) FROM budget_holds) AS reserved`,
    );
    const used = (use?.spent ?? 0) + (use?.reserved ?? 0);
    if (used <= this.budgetMicros) return;
    // The service would take an error for one of the database.
    this.violations.push(new Violation('spent + reserved ≤ budget', `${JSON.stringify(use)} of ${this.budgetMicros}`));
  }

  /** An intent that arrives after its record stays until its process ends, and then changes nothing. */
  private checkIntents(): void {
    const recorded = new Set(this.shared.rows<{ id: string }>('SELECT id FROM usage_records').map(({ id }) => id));
    for (const { streams } of this.shared.rows<{ streams: string }>('SELECT streams FROM usage_intents')) {
      const open = (JSON.parse(streams) as { id: string }[]).filter(({ id }) => !recorded.has(id));
      hold('one record a call', open.length === 0, () => streams);
    }
  }

  private checkRecords(): void {
    const sql = 'SELECT request_id, outcome, cost_micros FROM usage_records';
    const rows = this.shared.rows<{ request_id: string; outcome: string; cost_micros: number | null }>(sql);
    for (const { requestId, call, end, replica } of this.completions) {
      const records = rows.filter(({ request_id }) => request_id === requestId);
      const facts = (): string => `${requestId}, ${JSON.stringify(call)}, ${end}: ${JSON.stringify(records)}`;
      hold('one record a call', records.length <= 1, facts);
      const isLost = call?.mayLackIntent === true && replica.owner.isKilled;
      if (call === undefined || isLost) continue;
      hold('one record a call', records.length === 1, facts);
      if (replica.owner.isKilled || !call.isComplete) continue;
      const [record] = records;
      hold('one record a call', record?.cost_micros === INPUT_TOKENS + call.tokens, facts);
    }
  }

  private async send(replica: MoneyReplica, maxTokens: number): Promise<void> {
    const requestId = `request-${this.completions.length}`;
    const left = new AbortController();
    const completion: Completion = { requestId, replica, left, call: undefined, end: undefined };
    this.completions.push(completion);
    const tier = { name: 'money', budget: { micros: this.budgetMicros, per: 'month' } };
    const credential = { kind: 'api_key', keyId: 'key', prefix: 'key' };
    const caller = { principal: { accountId: ACCOUNT, tier, credential } as Principal, signal: left.signal, requestId };
    const messages = [{ role: 'user', content: requestId }];
    const request = { model: 'acme/fast', messages, max_tokens: maxTokens } as unknown as ConversationRequest;
    try {
      const parts = await replica.chat.open(request, caller satisfies ChatCaller);
      while ((await parts.next()).done !== true);
      completion.end ??= 'done';
    } catch (error) {
      completion.end ??= error === CLIENT_GONE ? 'client_gone' : toServiceError(error).code;
    }
  }

  /** The provider: reports the tokens of a complete answer, which are at most those that were asked for. */
  private answer(
    number: number,
    requestId: string,
    maxTokens: number,
    trace: CallTrace,
    end: (failure?: unknown) => void,
  ): FailoverStream {
    const completion = this.completions.find((each) => each.requestId === requestId);
    if (completion === undefined) throw new Error(`Nobody has sent ${requestId}.`);
    const mayLackIntent = this.time.nowMs - (this.upSince[number] ?? 0) < INTENTS_AGAIN_MS;
    const tokens = this.random.between(1, maxTokens + 1);
    const call = { mayLackIntent, tokens, isComplete: false };
    hold('one record a call', completion.call === undefined, () => `${requestId} is called twice`);
    completion.call = call;
    const attempt = trace.beginAttempt('acme');
    attempt.accepted = true;
    const answer = new SimulatedAnswer(this.time, 'x', this.plan, (failure) => {
      if (failure === undefined) {
        trace.usage = { inputTokens: INPUT_TOKENS, outputTokens: tokens };
        trace.finish = { reason: 'stop', raw: 'stop' };
        call.isComplete = true;
      }
      end(failure);
    });
    return answer as unknown as FailoverStream;
  }
}
