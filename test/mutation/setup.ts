import fc from 'fast-check';
import { dropOwnClaims } from '../support/redis.js';

// A mutant can keep a test from dropping its database. Without databases, all later mutants would count as noticed. This runs before
// the file of tests is read, which claims its own.
await dropOwnClaims();

// That a property does not hold is enough. To look for its smallest counterexample takes long.
fc.configureGlobal({ endOnFailure: true });
