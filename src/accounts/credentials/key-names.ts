import { In, type Repository } from 'typeorm';
import { orUnavailable } from '../../database/queries/query-failure.js';
import type { StoredKey } from './stored-key.js';

/** Returns the names of the keys by id. An unknown id has none. */
export async function keyNames(
  keys: Repository<StoredKey>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const found = await orUnavailable(keys.find({ select: { id: true, name: true }, where: { id: In([...ids]) } }));
  return new Map(found.map(({ id, name }) => [id, name]));
}
