import 'reflect-metadata';
import { afterEach, beforeEach } from 'vitest';
import { runningServices } from './running-services.js';
import { watchTimers } from './timer-watch.js';

watchTimers();

/** The number of tests that run now. It is more than one in a concurrent suite. */
let runningTests = 0;

beforeEach(() => {
  runningTests += 1;
});

afterEach(async () => {
  runningTests -= 1;
  if (runningTests > 0) return;
  for (const { leftovers } of runningServices) await leftovers.none();
});
