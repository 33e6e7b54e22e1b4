import { Injectable, Logger } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import type { UsageRecord } from '../record/usage-record.js';
import { UnstorableData } from '../store/ledger-text.js';
import { UsageStore, type DeadLetter } from '../store/usage-store.js';
import { recoverableJson } from './recoverable-json.js';

/** Writes records to the store. A record that the store refuses becomes a dead letter, so that the others are still written. */
@Injectable()
export class RecordWriter {
  private readonly logger = new Logger(RecordWriter.name);
  /** Dead letters since the start. */
  deadLetterCount = 0;

  constructor(private readonly store: UsageStore) {}

  /**
   * Writes the first of `records`, or stores it as a dead letter, and as many of the following as possible. Rejects if the store fails.
   *
   * @returns the number of records that are done, counted from the first.
   */
  async writeSome(records: readonly UsageRecord[]): Promise<number> {
    for (let count = records.length; ; count = Math.ceil(count / 2)) {
      try {
        await this.store.append(records.slice(0, count));
        return count;
      } catch (error) {
        if (!(error instanceof UnstorableData)) throw error;
        const [first] = records;
        if (first !== undefined && count === 1) await this.deadLetter(refused(first, error));
        if (count <= 1) return count;
      }
    }
  }

  /** Stores the refused record apart from the others. If this fails too, the log gets the whole record. */
  async deadLetter(refused: DeadLetter): Promise<void> {
    this.deadLetterCount++;
    const { id, requestId, reason, record } = refused;
    const isStored = await this.store.deadLetter(refused).then(
      () => true,
      () => false,
    );
    this.logger.error({
      msg: 'A usage record became a dead letter: the store refuses its data',
      requestId,
      recordId: id,
      reason,
      ...(isStored ? {} : { record }),
    });
  }
}

/** The members may have any type: the record was refused because it is odd. */
function refused(record: UsageRecord, { message }: UnstorableData): DeadLetter {
  const { id, requestId } = record as { readonly id: unknown; readonly requestId: unknown };
  return {
    id: typeof id === 'string' ? id : randomUUID(),
    requestId: typeof requestId === 'string' ? requestId : undefined,
    reason: message,
    record: recoverableJson(record),
  };
}
