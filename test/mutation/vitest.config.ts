import { defineConfig } from 'vitest/config';
import base from '../vitest.config.js';
import { suiteOf } from './suites.mjs';

/** Only the tests of one folder, on stores of their own: no build, no browser, no process. */
export default defineConfig({
  ...base,
  test: {
    root: `${import.meta.dirname}/..`,
    setupFiles: ['support/setup.ts', 'mutation/setup.ts'],
    include: suiteOf(process.env.MUTATED_PATH ?? '') ?? [],
    isolate: false,
    // Instrumented code takes several times as long.
    testTimeout: 60_000,
    // Those that measure work would measure the instrumentation.
    testNamePattern: /^(?!.*(?:in no time|of a long (?:text|prompt)))/,
  },
});
