import { createHmac, randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, DAY_MS, type Clock } from '../../platform/common/clock.js';
import { ServiceError } from '../../platform/common/service-error.js';
import { AtomicStatements, type Statement } from '../../platform/database/queries/atomic-statements.js';

/** A repeated request is recognized for this long. */
const REMEMBERED_MS = DAY_MS;
/** Small, because SQLite blocks the event loop while it deletes. */
const DELETED_AT_ONCE = 100;

interface OperatorRequest {
  /**
   * The operator key itself, in a form that does not depend on how the client has sent it. The hashes in the database depend on the
   * key, because a body can have a password.
   */
  readonly operatorKey: string;
  readonly idempotencyKey: string;
  /** The operation and its body. */
  readonly content: string;
}

interface ClaimedRequest {
  /** The id of what the request creates, the same for each repetition. */
  readonly createdId: string;
  /** Whether this is the first request with the key. */
  readonly isFirst: boolean;
  /** Releases the key of the request, because it has created nothing. */
  release(): Promise<void>;
}

/** Remembers the requests of operators that create something, so that a repeated request creates nothing twice. */
@Injectable()
export class OperatorRequests {
  constructor(
    private readonly database: AtomicStatements,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /**
   * Claims the key for a request. Of several requests with the same key, on any replica, exactly one is the first.
   *
   * @throws {ServiceError} `idempotency_conflict` when the key was used for another request in the last 24 hours.
   */
  async claim({ operatorKey, idempotencyKey, content }: OperatorRequest): Promise<ClaimedRequest> {
    const id = hashOf(operatorKey, idempotencyKey);
    const requestHash = hashOf(operatorKey, content);
    const row = { table: 'operator_requests', id };
    const now = this.now();
    const [, claimed, [known] = []] = await this.database.change(row, [
      deleteBefore(new Date(now - REMEMBERED_MS)),
      {
        sql: `INSERT INTO operator_requests (id, request_hash, created_id, requested_at)
            VALUES (:id, :requestHash, :createdId, :now) ON CONFLICT (id) DO NOTHING RETURNING id`,
        parameters: { id, requestHash, createdId: randomUUID(), now: new Date(now).toISOString() },
      },
      { sql: 'SELECT request_hash, created_id FROM operator_requests WHERE id = :id', parameters: { id } },
    ]);
    if (known?.['request_hash'] !== requestHash) {
      throw new ServiceError(
        'idempotency_conflict',
        'This Idempotency-Key was used for another request. Use a new key.',
      );
    }
    const deletion = { sql: 'DELETE FROM operator_requests WHERE id = :id RETURNING id', parameters: { id } };
    return {
      createdId: String(known['created_id']),
      isFirst: claimed?.length === 1,
      release: async () => {
        await this.database.change(row, [deletion]);
      },
    };
  }
}

function deleteBefore(time: Date): Statement {
  return {
    sql: `DELETE FROM operator_requests WHERE id IN (
        SELECT id FROM operator_requests WHERE requested_at < :before ORDER BY requested_at LIMIT ${DELETED_AT_ONCE}
      ) RETURNING id`,
    parameters: { before: time.toISOString() },
  };
}

/** The database does not have the key, so a reader of the database cannot guess the text. */
function hashOf(key: string, text: string): string {
  return createHmac('sha256', key).update(text).digest('hex');
}
