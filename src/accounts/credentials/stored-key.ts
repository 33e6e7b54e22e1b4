import {
  Column,
  In,
  LessThan,
  PrimaryColumn,
  type FindOptionsOrder,
  type FindOptionsSelect,
  type FindOptionsWhere,
  type Repository,
} from 'typeorm';
import { TimestampColumn } from '../../platform/database/queries/timestamp-column.js';
import { orUnavailable } from '../../platform/database/queries/query-failure.js';
import type { TimePage, TimePosition } from '../../platform/database/queries/page-by-time.js';

/** The columns that each kind of key has. The key itself is not stored. */
export abstract class StoredKey {
  @PrimaryColumn({ type: 'text' })
  readonly id!: string;

  @Column({ type: 'text' })
  readonly name!: string;

  /** The key's first characters, to tell keys apart. */
  @Column({ type: 'text' })
  readonly prefix!: string;

  @Column({ type: 'text', name: 'hashed_key', unique: true })
  readonly hashedKey!: string;

  @TimestampColumn({ name: 'created_at' })
  readonly createdAt!: Date;

  @TimestampColumn({ name: 'expires_at', nullable: true })
  readonly expiresAt!: Date | null;

  /** Up to a minute late, see `UseRecorder`. */
  @TimestampColumn({ name: 'last_used_at', nullable: true })
  readonly lastUsedAt!: Date | null;

  @TimestampColumn({ name: 'revoked_at', nullable: true })
  readonly revokedAt!: Date | null;
}

/** Returns the names of the keys by id. An unknown id has none. */
export async function keyNames(
  keys: Repository<StoredKey>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const found = await orUnavailable(keys.find({ select: { id: true, name: true }, where: { id: In([...ids]) } }));
  return new Map(found.map(({ id, name }) => [id, name]));
}

/** Returns the keys that follow a position, newest first, including revoked keys. */
export async function keyPage<Key extends StoredKey>(
  keys: Repository<Key>,
  scope: FindOptionsWhere<Key>,
  after: TimePosition | undefined,
  limit: number,
  select?: FindOptionsSelect<Key>,
): Promise<TimePage<Key>> {
  const of = (position: FindOptionsWhere<StoredKey>) => ({ ...scope, ...position }) as FindOptionsWhere<Key>;
  const time = new Date(after?.time ?? 0);
  const where =
    after === undefined ? scope : [of({ createdAt: LessThan(time) }), of({ createdAt: time, id: LessThan(after.id) })];
  const order = { createdAt: 'DESC', id: 'DESC' } as FindOptionsOrder<Key>;
  const found = await orUnavailable(keys.find({ ...(select && { select }), where, order, take: limit + 1 }));
  const last = found.length > limit ? found[limit - 1] : undefined;
  return { rows: found.slice(0, limit), next: last && { time: last.createdAt.toISOString(), id: last.id } };
}

type Shown = Pick<StoredKey, 'prefix' | 'createdAt' | 'expiresAt' | 'lastUsedAt' | 'revokedAt'>;

/** The members that the API and the admin command show of every kind of key. */
export function wireKeyTimes({ prefix, createdAt, expiresAt, lastUsedAt, revokedAt }: Shown) {
  return {
    prefix,
    created_at: createdAt.toISOString(),
    expires_at: expiresAt?.toISOString() ?? null,
    last_used_at: lastUsedAt?.toISOString() ?? null,
    revoked_at: revokedAt?.toISOString() ?? null,
  };
}
