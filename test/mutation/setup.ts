import { beforeAll } from 'vitest';
import { dropOwnClaims } from '../support/redis.js';

// A mutant can keep a test from dropping its database. Without databases, all later mutants would count as noticed.
beforeAll(dropOwnClaims);
