import type { DataSource } from 'typeorm';
import { engineOf, queryRows, type Parameters } from './statements.js';

/** Small, because SQLite blocks the event loop while it deletes. */
const ROWS = 500;

/**
 * Deletes at most 500 rows, for an hourly job. Replicas that delete at the same time take different rows.
 *
 * @param which the condition for the rows, and their order if an index has it.
 * @returns whether there may be more.
 */
export async function deletePortion(
  database: Pick<DataSource, 'options' | 'query'>,
  table: string,
  which: string,
  parameters: Parameters,
): Promise<boolean> {
  const lock = engineOf(database) === 'postgres' ? ' FOR UPDATE SKIP LOCKED' : '';
  const some = `SELECT id FROM ${table} WHERE ${which} LIMIT ${ROWS}${lock}`;
  const deleted = await queryRows(database, `DELETE FROM ${table} WHERE id IN (${some}) RETURNING id`, parameters);
  return deleted.length === ROWS;
}
