import 'reflect-metadata';
import { afterEach, beforeEach } from 'vitest';
import { runningServices } from './running-services.js';
import { watchTimers } from './timer-watch.js';

watchTimers();

/** Tests that run now: more than one where a suite is concurrent. */
let runningTests = 0;

beforeEach(() => {
  runningTests += 1;
});

afterEach(async () => {
  runningTests -= 1;
  if (runningTests > 0) return;
  for (const { leftovers } of runningServices) await leftovers.none();
});
