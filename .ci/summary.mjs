// Sums up a run: node .ci/summary.mjs <folder> [steps that failed…]
// The folder has the reports of vitest's JSON reporter, each with the name of its step. The reports in REPORTS are required.
// The last line is "N passed, N failed". A step that failed without a failed test counts as one, and so does a suite that
// could not be loaded, a test that was left out, and a required suite that is not there. A failed test that has passed when its
// file was run again, alone (see again.mjs), is named and counts as passed.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Suites that leave themselves out where what they need is missing, or that run only in CI, by a word of their names. */
const REQUIRED = [
  ...['PostgreSQL', 'PgBouncer', 'Redis', 'in Chromium', 'replicas', 'promtool', 'nginx', 'HAProxy', 'Caddy'],
  ...['installed outside the repository', 'in a terminal', 's without data'],
];

/** Steps without whose report the run fails. */
const REPORTS = ['tests', 'system', 'browser', 'clients'];

const [folder, ...failedSteps] = process.argv.slice(2);
const failures = [];
let passed = 0;
/** The steps with tests that failed at first. */
const again = new Set();

const steps = new Set([...REPORTS, ...failedSteps, ...reportedSteps()]);
for (const step of steps) {
  const report = reportOf(step);
  const found =
    report === undefined
      ? []
      : failuresIn(report, passedAgain(step)).map((failure) => (step === 'tests' ? failure : `${step}: ${failure}`));
  failures.push(...found);
  // An error outside any test, such as a rejection that nobody handled.
  const isFailed = failedSteps.includes(step) || report?.success === false;
  if (found.length === 0 && isFailed && !again.has(step)) failures.push(`step: ${step}`);
  if (REPORTS.includes(step) && report === undefined && !isFailed) failures.push(`step: ${step} (no report)`);
}
const names = REPORTS.flatMap((step) => namesOf(reportOf(step)));
for (const word of REQUIRED) {
  if (!names.some((name) => name.includes(word))) failures.push(`left out: every test on "${word}"`);
}
if (passed === 0) failures.push('nothing ran');

for (const failure of failures) console.log(`!! ${failure}`);
console.log(`${passed} passed, ${failures.length} failed`);
process.exitCode = failures.length === 0 ? 0 : 1;

/** Counts the passed tests of a report, and returns what failed and did not pass again. */
function failuresIn({ testResults }, passedLater) {
  const found = [];
  for (const { name, status, message, assertionResults } of testResults) {
    if (status === 'failed' && assertionResults.every((test) => test.status !== 'failed')) {
      found.push(`suite: ${name}: ${message}`);
    }
    for (const test of assertionResults) {
      const isPassedLater = test.status === 'failed' && passedLater.has(test.fullName);
      if (isPassedLater) console.log(`-- passed when it was run again, alone: ${test.fullName}`);
      if (test.status === 'passed' || isPassedLater) passed += 1;
      else found.push(`${test.status === 'failed' ? 'test' : 'left out'}: ${test.fullName}`);
    }
  }
  return found;
}

/** The names of the tests that passed. */
function namesOf(report) {
  return (report?.testResults ?? []).flatMap(({ assertionResults }) =>
    assertionResults.filter(({ status }) => status === 'passed').map(({ fullName }) => fullName),
  );
}

/** The names of the tests of a step that have passed in the second run of their file, if nothing in it failed. */
function passedAgain(step) {
  const report = reportOf(join('again', step));
  if (report?.success !== true) return new Set();
  again.add(step);
  return new Set(namesOf(report));
}

function reportedSteps() {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .map((file) => file.replace(/\.json$/, ''));
}

function reportOf(step) {
  try {
    return JSON.parse(readFileSync(join(folder, `${step}.json`), 'utf8'));
  } catch {
    return undefined;
  }
}
