import { Injectable, Logger } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import type { UsageRecord } from '../record/usage-record.js';
import { UnstorableData } from '../store/ledger-text.js';
import { UsageStore, type DeadLetter } from '../store/usage-store.js';

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

/** In UTF-16 units. A regular record needs far less. */
const MAX_TEXT_LENGTH = 1_000;
const MAX_LENGTH = 100_000;

/** Returns a record of any shape as a text that every database and log accepts. */
export function recoverableJson(record: object): string {
  try {
    return JSON.stringify(record, (_, member: unknown) => shown(member)).slice(0, MAX_LENGTH);
  } catch {
    // A member is circular, or its getter throws.
    return inspect(record, { maxStringLength: MAX_TEXT_LENGTH }).slice(0, MAX_LENGTH);
  }
}

/** Returns values that JSON does not support as a text. */
function shown(member: unknown): unknown {
  switch (typeof member) {
    case 'bigint':
      return String(member);
    case 'number':
      return Number.isFinite(member) ? member : String(member);
    case 'string':
      return member.length > MAX_TEXT_LENGTH ? `${member.slice(0, MAX_TEXT_LENGTH)}…` : member;
    default:
      return member;
  }
}
