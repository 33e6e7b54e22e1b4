/**
 * The stores of the suites that run on several stores, from the Vitest project: `in-process` for SQLite and the stores in memory,
 * `servers` for PostgreSQL and Redis. By default all of them.
 */
export const STORES = process.env['TEST_STORES'] as 'in-process' | 'servers' | undefined;
