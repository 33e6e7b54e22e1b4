import { defineConfig } from 'vitest/config';
import base from '../vitest.config.js';
import { SUITES } from './suites.mjs';

const folder = process.env.MUTATED_FOLDER as keyof typeof SUITES;

/** Only the tests of one folder, on stores of their own: no build, no browser, no process. */
export default defineConfig({
  ...base,
  test: {
    root: `${import.meta.dirname}/..`,
    setupFiles: ['support/setup.ts'],
    include: SUITES[folder],
    isolate: false,
    testTimeout: 20_000,
    hookTimeout: 20_000,
  },
});
