import 'reflect-metadata';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, expect, vi } from 'vitest';
import { IS_THOROUGH, PROPERTY_RUNS } from './property-runs.js';
import { runningServices } from './running-services.js';
import { unlimitedPlans, watchPlans } from './statement-plans.js';
import { runningTimers, watchTimers } from './timer-watch.js';
import { waitFor } from './wait-for.js';

watchTimers();
if (/\/test\/contract\/(?:usage|accounts)\//.test(expect.getState().testPath ?? '')) watchPlans();

// The suites of protocols try up to 3,000 random events. CI and the mutation testing try them all.
if (
  /\/test\/contract\/protocols\//.test(expect.getState().testPath ?? '') &&
  !IS_THOROUGH &&
  process.env['MUTATED_PATH'] === undefined
) {
  beforeAll(() => {
    fc.configureGlobal({ ...fc.readConfigureGlobal(), numRuns: PROPERTY_RUNS });
  });
  afterAll(() => {
    fc.resetConfigureGlobal();
  });
}

if (/\/test\/unit\//.test(expect.getState().testPath ?? '')) {
  afterEach(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });
}

/** The timers of the service before the tests of this file. The files of a worker share one process. */
let timersBefore: ReadonlyMap<string, number> = new Map();

beforeAll(() => {
  timersBefore = runningTimers();
});

afterAll(async () => {
  const left = () => [...runningTimers()].filter(([file, count]) => count > (timersBefore.get(file) ?? 0));
  await waitFor(() => left().length === 0, 'timers to be cleared').catch(() => {
    expect(left(), 'timers that this file leaves to the next one').toEqual([]);
  });
});

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
