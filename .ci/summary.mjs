// Sums up a run: node .ci/summary.mjs <report of vitest's JSON reporter> [steps that failed…]
// The last line is "N passed, N failed". A step that failed without a failed test counts as one, and so does a suite that
// could not be loaded, a test that was left out, and a required suite that is not there.
import { readFileSync } from 'node:fs';

/** Suites that leave themselves out where what they need is missing, or that run only in CI, by a word of their names. */
const REQUIRED = [
  ...['PostgreSQL', 'PgBouncer', 'Redis', 'in Chromium', 'replicas', 'promtool', 'nginx', 'HAProxy', 'Caddy'],
  'installed outside the repository',
];

const [reportPath, ...failedSteps] = process.argv.slice(2);
const failures = failedSteps.filter((step) => step !== 'tests').map((step) => `step: ${step}`);
let passed = 0;

const report = read(reportPath);
if (report === undefined) failures.push('step: tests (they wrote no report)');
else {
  for (const { name, status, message, assertionResults } of report.testResults) {
    if (status === 'failed' && assertionResults.every((test) => test.status !== 'failed')) {
      failures.push(`suite: ${name}: ${message}`);
    }
    for (const test of assertionResults) {
      if (test.status === 'passed') passed += 1;
      else failures.push(`${test.status === 'failed' ? 'test' : 'left out'}: ${test.fullName}`);
    }
  }
  const names = report.testResults.flatMap(({ assertionResults }) =>
    assertionResults.filter(({ status }) => status === 'passed').map(({ fullName }) => fullName),
  );
  for (const word of REQUIRED) {
    if (!names.some((name) => name.includes(word))) failures.push(`left out: every test on "${word}"`);
  }
  if (passed === 0) failures.push('nothing ran');
  // An error outside any test, such as a rejection that nobody handled.
  if (failures.length === 0 && (failedSteps.includes('tests') || !report.success)) failures.push('step: tests');
}

for (const failure of failures) console.log(`!! ${failure}`);
console.log(`${passed} passed, ${failures.length} failed`);
process.exitCode = failures.length === 0 ? 0 : 1;

function read(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}
