import { startTests, type File, type Suite, type Task, type Test, type VitestRunner } from '@vitest/runner';
import { BroadcastChannel } from 'node:worker_threads';
import { TestRunner, vi } from 'vitest';

/** What `runner.mjs` asks for: to run tests until one fails, with a mutant or with none. */
export interface Order {
  /** Without ids, all tests of a file. */
  readonly files: readonly { readonly path: string; readonly testIds?: string[] }[];
  readonly mutant?: string;
  /** How often the code of the mutant may run before it throws: it may be in a loop without an end. */
  readonly hitLimit?: number;
  /** The time limit of each test, in milliseconds. */
  readonly timeoutMs: number;
  readonly wantsCoverage?: boolean;
}

/** What came of an order. */
export interface Outcome {
  readonly tests: readonly TestOutcome[];
  /** Errors outside of tests: of the import of a file, of hooks of a suite, and those that nobody handled. */
  readonly errors: readonly string[];
  readonly hitCount: number | undefined;
  readonly coverage?: Coverage;
}

export interface TestOutcome {
  /** The path of the file, `#`, and the id in the file. */
  readonly id: string;
  readonly name: string;
  readonly file: string;
  readonly state: 'passed' | 'failed' | 'skipped';
  readonly milliseconds: number;
  readonly error?: string;
}

/** How often each mutant was reached: while modules were loaded, and by each test. */
interface Coverage {
  readonly static: Hits;
  readonly perTest: Record<string, Hits>;
}
type Hits = Record<string, number>;

/** What the instrumented code reads and writes. */
interface Instrumented {
  activeMutant?: string | undefined;
  currentTestId?: string | undefined;
  hitCount?: number | undefined;
  hitLimit?: number | undefined;
  /** The code keeps the object that is here when it is loaded. */
  mutantCoverage?: Coverage;
}

/** What Vitest's own runner does not show to others. */
interface Internals {
  /** Skips all tests that have not begun. */
  cancelRun: boolean;
  readonly workerState: {
    filepath?: string;
    readonly evaluatedModules: {
      getModuleById(id: string): object | undefined;
      invalidateModule(module: object): void;
    };
  };
}

const instrumented: Instrumented = ((globalThis as { __stryker__?: Instrumented }).__stryker__ ??= {});
const reached: Coverage = (instrumented.mutantCoverage ??= { static: {}, perTest: {} });

/**
 * A worker of Vitest that stays: instead of the file that it is given, it runs what it is told through a channel, until the end. So
 * modules are loaded once, and only the files of tests are read anew for each run.
 */
export default class WarmWorker extends TestRunner {
  readonly #outside: string[] = [];
  #mutant: string | undefined;
  #inner: (VitestRunner & Internals) | undefined;

  async onBeforeRunFiles(files: File[]): Promise<void> {
    for (const file of files) file.mode = 'skip';
    const notHandled = (error: unknown): void => {
      this.#outside.push(textOf(error));
    };
    process.on('unhandledRejection', notHandled).on('uncaughtException', notHandled);
    const channel = new BroadcastChannel('mutation');
    await new Promise<void>((resolve) => {
      channel.onmessage = (event): void => {
        const { data } = event as { data: Order | 'end' };
        if (data === 'end') resolve();
        else
          void this.#run(data).then((outcome) => {
            channel.postMessage(outcome);
          });
      };
      channel.postMessage('ready');
    });
    channel.close();
  }

  /** This runner, but its runs are not reported, its test files are read anew, and it says which test runs. */
  #quiet(): VitestRunner & Internals {
    const outer = TestRunner.prototype;
    const inner = Object.create(this) as VitestRunner & Internals;
    const { evaluatedModules } = inner.workerState;
    return Object.assign(inner, {
      onCollected: nothing,
      onBeforeRunFiles: () => {
        instrumented.activeMutant = this.#mutant;
      },
      onTaskUpdate: nothing,
      onCollectStart: (file: File) => {
        outer.onCollectStart.call(inner as never, file);
      },
      importFile: (path: string, source: 'collect' | 'setup') => {
        const module = evaluatedModules.getModuleById(path);
        if (module) evaluatedModules.invalidateModule(module);
        return outer.importFile.call(inner as never, path, source);
      },
      onBeforeRunSuite: (suite: Suite) => {
        instrumented.currentTestId = suite.id;
        return outer.onBeforeRunSuite.call(inner as never, suite);
      },
      onAfterRunSuite: (suite: Suite) => {
        if (hasFailed(suite)) inner.cancelRun = true;
        return outer.onAfterRunSuite.call(inner as never, suite);
      },
      onBeforeTryTask: (test: Test) => {
        instrumented.currentTestId = test.id;
        outer.onBeforeTryTask.call(inner as never, test);
      },
      onAfterRunTask: (test: Test) => {
        instrumented.currentTestId = test.suite?.id ?? test.file.id;
        if (hasFailed(test)) inner.cancelRun = true;
        outer.onAfterRunTask.call(inner as never, test);
      },
    });
  }

  async #run({ files, mutant, hitLimit, timeoutMs, wantsCoverage = false }: Order): Promise<Outcome> {
    this.#outside.length = 0;
    this.#mutant = mutant;
    instrumented.hitCount = hitLimit === undefined ? undefined : 0;
    instrumented.hitLimit = hitLimit;
    const inner = (this.#inner ??= this.#quiet());
    this.config.testTimeout = timeoutMs;
    this.config.hookTimeout = timeoutMs;
    const ran: File[] = [];
    for (const { path, testIds } of files) {
      // What a test that failed has not put back.
      vi.useRealTimers().restoreAllMocks().unstubAllGlobals().unstubAllEnvs();
      inner.cancelRun = false;
      inner.workerState.filepath = path;
      ran.push(...(await startTests([{ filepath: path, testIds }], inner)));
      instrumented.activeMutant = undefined;
      instrumented.currentTestId = undefined;
      if (ran.some(hasFailed) || this.#outside.length > 0) break;
    }
    return {
      tests: ran.flatMap(testsIn).map(outcomeOf),
      errors: [
        ...ran
          .flatMap(suitesIn)
          .flatMap((suite) => suite.result?.errors ?? [])
          .map(textOf),
        ...this.#outside,
      ],
      hitCount: instrumented.hitCount,
      ...(wantsCoverage && { coverage: coverageByTest(reached, ran) }),
    };
  }
}

async function nothing(): Promise<void> {
  // Nobody waits for the news of these runs.
}

function hasFailed(task: Task): boolean {
  return task.result?.state === 'fail';
}

function suitesIn(suite: Suite): Suite[] {
  return [suite, ...suite.tasks.flatMap((task) => (task.type === 'suite' ? suitesIn(task) : []))];
}

function testsIn(suite: Suite): Test[] {
  return suite.tasks.flatMap((task) => (task.type === 'suite' ? testsIn(task) : [task]));
}

function idOf(test: Test): string {
  return `${test.file.filepath}#${test.id}`;
}

function outcomeOf(test: Test): TestOutcome {
  const { name, file, result } = test;
  const state = result?.state === 'pass' ? 'passed' : result?.state === 'fail' ? 'failed' : 'skipped';
  const error = result?.errors?.[0];
  return {
    id: idOf(test),
    name,
    file: file.filepath,
    state,
    milliseconds: result?.duration ?? 0,
    ...(error && { error: textOf(error) }),
  };
}

/** What the hooks of a suite reach is reached by each of its tests. */
function coverageByTest({ static: whileLoading, perTest }: Coverage, files: File[]): Coverage {
  const byTest: Record<string, Hits> = {};
  const visit = (task: Task, above: Hits): void => {
    const hits = sum(above, perTest[task.id] ?? {});
    if (task.type === 'suite') for (const child of task.tasks) visit(child, hits);
    else byTest[idOf(task)] = hits;
  };
  for (const file of files) visit(file, {});
  return { static: whileLoading, perTest: byTest };
}

function sum(a: Hits, b: Hits): Hits {
  const both = { ...a };
  for (const [mutant, hits] of Object.entries(b)) both[mutant] = (both[mutant] ?? 0) + hits;
  return both;
}

function textOf(error: unknown): string {
  return error instanceof Error || (typeof error === 'object' && error !== null && 'message' in error)
    ? String(error.message)
    : String(error);
}
