import {
  LessThan,
  type FindOptionsOrder,
  type FindOptionsSelect,
  type FindOptionsWhere,
  type Repository,
} from 'typeorm';
import type { TimePage, TimePosition } from '../../database/queries/page-by-time.js';
import { orUnavailable } from '../../database/queries/query-failure.js';
import type { StoredKey } from './stored-key.js';

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
