// Sums up a run: node .ci/summary.mjs <folder> [steps that failed…]
// The folder has the reports of vitest's JSON reporter, each with the name of its step. The report of the step "tests" is required.
// The last line is "N passed, N failed". A step that failed without a failed test counts as one, and so does a suite that
// could not be loaded, a test that was left out, and a required suite that is not there.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Suites that leave themselves out where what they need is missing, or that run only in CI, by a word of their names. */
const REQUIRED = [
  ...['PostgreSQL', 'PgBouncer', 'Redis', 'in Chromium', 'replicas', 'promtool', 'nginx', 'HAProxy', 'Caddy'],
  ...['installed outside the repository', 'in a terminal', 's without data'],
];

const [folder, ...failedSteps] = process.argv.slice(2);
const failures = [];
let passed = 0;

const steps = new Set(['tests', ...failedSteps, ...reportedSteps()]);
for (const step of steps) {
  const report = reportOf(step);
  const found =
    report === undefined
      ? []
      : failuresIn(report).map((failure) => (step === 'tests' ? failure : `${step}: ${failure}`));
  failures.push(...found);
  // An error outside any test, such as a rejection that nobody handled.
  const isFailed = failedSteps.includes(step) || report?.success === false;
  if (found.length === 0 && isFailed) failures.push(`step: ${step}`);
  if (step === 'tests' && report === undefined && !isFailed) failures.push('step: tests (they wrote no report)');
}
const names = ['tests', 'browser'].flatMap((step) => namesOf(reportOf(step)));
for (const word of REQUIRED) {
  if (!names.some((name) => name.includes(word))) failures.push(`left out: every test on "${word}"`);
}
if (passed === 0) failures.push('nothing ran');

for (const failure of failures) console.log(`!! ${failure}`);
console.log(`${passed} passed, ${failures.length} failed`);
process.exitCode = failures.length === 0 ? 0 : 1;

/** Counts the passed tests of a report, and returns what failed. */
function failuresIn({ testResults }) {
  const found = [];
  for (const { name, status, message, assertionResults } of testResults) {
    if (status === 'failed' && assertionResults.every((test) => test.status !== 'failed')) {
      found.push(`suite: ${name}: ${message}`);
    }
    for (const test of assertionResults) {
      if (test.status === 'passed') passed += 1;
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

function reportedSteps() {
  return readdirSync(folder).map((file) => file.replace(/\.json$/, ''));
}

function reportOf(step) {
  try {
    return JSON.parse(readFileSync(join(folder, `${step}.json`), 'utf8'));
  } catch {
    return undefined;
  }
}
