import 'reflect-metadata';
import { afterEach, beforeEach, expect } from 'vitest';
import { runningServices } from './running-services.js';
import { unlimitedPlans, watchPlans } from './statement-plans.js';
import { watchTimers } from './timer-watch.js';

watchTimers();
if (/\/test\/contract\/(?:usage|accounts)\//.test(expect.getState().testPath ?? '')) watchPlans();

/** The number of tests that run now. It is more than one in a concurrent suite. */
let runningTests = 0;

beforeEach(() => {
  runningTests += 1;
});

afterEach(async () => {
  runningTests -= 1;
  if (runningTests > 0) return;
  for (const { leftovers } of runningServices) await leftovers.none();
  // Each statement is either limited by its index, or by a limit that statement-plans.ts names.
  expect(unlimitedPlans.splice(0)).toEqual([]);
});
