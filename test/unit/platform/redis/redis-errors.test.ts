import { expect, it } from 'vitest';
import { isOutageReply } from '../../../../src/platform/redis/redis-errors.js';

it.each([
  "ERR The user executing the script can't run this command or subcommand",
  "READONLY You can't write against a read only replica.",
  'LOADING Redis is loading the dataset in memory',
  "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
  'CLUSTERDOWN The cluster is down',
  "OOM command not allowed when used memory > 'maxmemory'.",
  'MISCONF Redis is configured to save RDB snapshots, but it is currently unable to persist to disk.',
  'NOREPLICAS Not enough good replicas to write.',
  'NOAUTH Authentication required.',
  'NOPERM this user has no permissions',
  'WRONGPASS invalid username-password pair or user is disabled.',
  'BUSY Redis is busy running a script.',
  'UNKILLABLE Sorry the script already executed write commands against the dataset.',
])('an error reply that concerns all writes means that Redis is unavailable: %s', (message) => {
  expect(isOutageReply(new Error(message))).toBe(true);
});

it.each([
  'WRONGTYPE Operation against a key',
  'BUSYGROUP Consumer Group name already exists',
  'ERR OOM',
  'NOSCRIPT No',
])('an error reply about one command does not: %s', (message) => {
  expect(isOutageReply(new Error(message))).toBe(false);
});
