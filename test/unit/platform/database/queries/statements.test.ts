import { expect, it } from 'vitest';
import { insertStatement } from '../../../../../src/platform/database/queries/statements.js';

it('an INSERT is remembered for its own expressions only', () => {
  const insert = (at: string): string => insertStatement('postgres', 'events', ['id', 'name'], 2, { at });
  expect(insert('now()')).toBe('INSERT INTO events (id, name, at) VALUES ($1,$2,now()),($3,$4,now())');
  expect(insert('later()')).toBe('INSERT INTO events (id, name, at) VALUES ($1,$2,later()),($3,$4,later())');
});
