import { PluginKind, declareClassPlugin } from '@stryker-mutator/api/plugin';
import { DryRunStatus, MutantRunStatus, TestStatus, determineHitLimitReached } from '@stryker-mutator/api/test-runner';
import { join } from 'node:path';
import { BroadcastChannel } from 'node:worker_threads';
import { createVitest } from 'vitest/node';

const FOLDER = join('test', 'mutation');

/** The time limit of a test without a mutant: instrumented code takes several times as long. */
const TIMEOUT_MS = 60_000;
/** The time limit of a test with a mutant. Many mutants let it wait for what never comes. */
const MUTANT_TIMEOUT_MS = 4_000;

/**
 * Runs the tests of mutants in a worker that keeps its modules: to load Nest anew for each mutant takes far longer than the tests.
 * The plain runner for Vitest does so: it had judged 35 of 63 mutants of `throttling/tokens` after 8 minutes.
 * A mutant can leave something behind in such a worker. So a failure counts only if the test that failed passes without the mutant
 * and fails with it again, given several times as long as it takes. Otherwise a fresh worker judges.
 */
class WarmTestRunner {
  #vitest;
  #channel;
  #testFiles;

  capabilities() {
    // Mutants of what runs while modules are loaded are left out.
    return { reloadEnvironment: false };
  }

  async init() {
    process.env.NODE_ENV = 'test';
    await this.#start();
  }

  async dispose() {
    this.#channel.postMessage('end');
    this.#channel.close();
    await this.#vitest.close();
  }

  async dryRun() {
    const { tests, errors, coverage } = await this.#run({
      files: this.#testFiles.map((path) => ({ path })),
      timeoutMs: TIMEOUT_MS,
      wantsCoverage: true,
    });
    if (errors.length > 0) return { status: DryRunStatus.Error, errorMessage: errors.join('\n') };
    return { status: DryRunStatus.Complete, mutantCoverage: coverage, tests: tests.map(testResult) };
  }

  async mutantRun({ testFilter, activeMutant, hitLimit }) {
    const mutated = { mutant: activeMutant.id, hitLimit, timeoutMs: MUTANT_TIMEOUT_MS };
    const files = filesOf(testFilter);
    let outcome = await this.#run({ ...mutated, files });
    if (failed(outcome) && !(await this.#isCausedBy(mutated, outcome))) {
      await this.dispose();
      await this.#start();
      outcome = await this.#run({ ...mutated, files });
    }
    return determineHitLimitReached(outcome.hitCount, hitLimit) ?? mutantResult(outcome);
  }

  async #isCausedBy(mutated, { tests }) {
    const files = filesOf(tests.filter(({ state }) => state === 'failed').map(({ id }) => id));
    if (files.length === 0) return false;
    const begun = performance.now();
    if (failed(await this.#run({ files, timeoutMs: TIMEOUT_MS }))) return false;
    const timeoutMs = Math.max(MUTANT_TIMEOUT_MS, 5 * (performance.now() - begun));
    return failed(await this.#run({ ...mutated, files, timeoutMs }));
  }

  async #start() {
    this.#vitest = await createVitest('test', {
      config: join(FOLDER, 'vitest.config.ts'),
      runner: join(process.cwd(), FOLDER, 'warm-worker.ts'),
      pool: 'threads',
      maxWorkers: 1,
      maxConcurrency: 1,
      watch: false,
      onConsoleLog: () => false,
      reporters: [{}],
    });
    const specifications = await this.#vitest.globTestSpecifications();
    this.#testFiles = specifications.map(({ moduleId }) => moduleId).sort(byCost);
    this.#channel = new BroadcastChannel('mutation');
    const ready = this.#answer();
    void this.#vitest.runTestSpecifications(specifications.slice(0, 1));
    await ready;
  }

  #run(order) {
    const outcome = this.#answer();
    this.#channel.postMessage(order);
    return outcome;
  }

  #answer() {
    return new Promise((resolve) => {
      this.#channel.onmessage = ({ data }) => resolve(data);
    });
  }
}

/** Those first that start the least: a mutant that one of them notices needs no other. */
function byCost(one, other) {
  return costOf(one) - costOf(other);
}

function costOf(path) {
  return ['/test/unit/', '/test/contract/', '/test/'].findIndex((folder) => path.includes(folder));
}

/** Tests by the files that they are in. */
function filesOf(ids) {
  const files = new Map();
  for (const id of ids) {
    const at = id.lastIndexOf('#');
    const path = id.slice(0, at);
    files.set(path, [...(files.get(path) ?? []), id.slice(at + 1)]);
  }
  return [...files].map(([path, testIds]) => ({ path, testIds })).sort((one, other) => byCost(one.path, other.path));
}

function failed({ tests, errors }) {
  return errors.length > 0 || tests.some(({ state }) => state === 'failed');
}

function mutantResult({ tests, errors }) {
  const ran = tests.filter(({ state }) => state !== 'skipped');
  const killers = ran.filter(({ state }) => state === 'failed');
  const nrOfTests = ran.length;
  if (killers.length === 0 && errors.length === 0) return { status: MutantRunStatus.Survived, nrOfTests };
  return {
    status: MutantRunStatus.Killed,
    killedBy: (killers.length > 0 ? killers : tests.slice(0, 1)).map(({ id }) => id),
    failureMessage: killers[0]?.error ?? errors[0],
    nrOfTests,
  };
}

const STATUS = { passed: TestStatus.Success, failed: TestStatus.Failed, skipped: TestStatus.Skipped };

function testResult({ id, name, file, state, milliseconds, error }) {
  return { id, name, fileName: file, timeSpentMs: milliseconds, status: STATUS[state], failureMessage: error };
}

export const strykerPlugins = [declareClassPlugin(PluginKind.TestRunner, 'warm', WarmTestRunner)];
