import { join } from 'node:path';
import { configDefaults, defineConfig, type Plugin } from 'vitest/config';

/** Tests that replace a module. They cannot share the memory of modules with others. */
const REPLACE_MODULES = ['contract/accounts/accounts.test.ts', 'e2e/sign-in-work.test.ts'];

const SRC = join(import.meta.dirname, '..', 'src');

/** The scripts of the pages import the client from the path at which the service serves it. */
const clientOfPages: Plugin = {
  name: 'client-of-pages',
  enforce: 'pre',
  resolveId: (path, importer) =>
    path.endsWith('../client.js') && importer?.includes('/dashboard/static/') ? join(SRC, 'client.ts') : undefined,
};

export default defineConfig({
  plugins: [clientOfPages],
  oxc: {
    jsx: { runtime: 'automatic', importSource: 'preact', development: false },
    decorator: { legacy: true, emitDecoratorMetadata: true },
  },
  // The examples, and the tests of a team, import the package by its name.
  resolve: {
    alias: [
      { find: /^chat-streaming-service$/, replacement: join(SRC, 'index.ts') },
      { find: /^chat-streaming-service\/testing$/, replacement: join(SRC, 'testing.ts') },
    ],
  },
  test: {
    root: import.meta.dirname,
    globalSetup: ['support/global-setup.ts'],
    setupFiles: ['support/setup.ts'],
    // More than there are cores: most of the time they wait for providers, stores and processes.
    maxWorkers: 4,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'together',
          include: ['**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...REPLACE_MODULES],
          // To load Nest and TypeORM anew for each file takes a third of the time.
          isolate: false,
        },
      },
      { extends: true, test: { name: 'alone', include: REPLACE_MODULES } },
    ],
  },
});
