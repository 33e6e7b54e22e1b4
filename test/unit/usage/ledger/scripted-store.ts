import type { StartedStream, UsageRecord } from '../../../../src/usage/record/usage-record.js';
import type { AbandonedBatch } from '../../../../src/usage/store/started-streams.js';
import { UsageStore, type DeadLetter } from '../../../../src/usage/store/usage-store.js';

export type StoreCall = 'open' | 'append' | 'close' | 'beat' | 'abandoned' | 'leave' | 'deadLetter';

/** Records each call when it begins. A test makes calls fail or wait. */
export class ScriptedStore extends UsageStore {
  readonly calls: string[] = [];
  readonly records: UsageRecord[] = [];
  readonly deadLetters: DeadLetter[] = [];
  /** The ids of the batches that `close` has deleted. */
  readonly closed: string[] = [];
  /** The batches that `abandoned` returns, one list a call. */
  readonly found: AbandonedBatch[][] = [];
  /** The result of a call. A call without an entry succeeds at once. */
  readonly results: Partial<Record<StoreCall, () => Promise<void>>> = {};

  constructor() {
    super({} as never, {} as never, {} as never);
  }

  override open({ streams }: { readonly streams: readonly StartedStream[] }): Promise<void> {
    return this.call('open', ...streams.map(({ requestId }) => requestId));
  }

  override async append(records: readonly UsageRecord[]): Promise<void> {
    await this.call('append', ...records.map(({ requestId }) => requestId));
    this.records.push(...records);
  }

  override async close(ids: readonly string[]): Promise<void> {
    await this.call('close', String(ids.length));
    this.closed.push(...ids);
  }

  override beat(): Promise<void> {
    return this.call('beat');
  }

  override leave(): Promise<void> {
    return this.call('leave');
  }

  override async abandoned(isUrgent?: boolean): Promise<readonly AbandonedBatch[]> {
    await this.call('abandoned', ...(isUrgent === true ? ['urgently'] : []));
    return this.found.shift() ?? [];
  }

  override async deadLetter(refused: DeadLetter): Promise<void> {
    await this.call('deadLetter', refused.requestId ?? '');
    this.deadLetters.push(refused);
  }

  /** Takes the calls since the last time. */
  takeCalls(): string[] {
    return this.calls.splice(0);
  }

  private call(name: StoreCall, ...what: string[]): Promise<void> {
    this.calls.push([name, ...what].join(' '));
    return this.results[name]?.() ?? Promise.resolve();
  }
}
