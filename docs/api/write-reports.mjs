// Writes the reports of the public API anew: `npm run api`. With --check, only says which reports are out of date.
import { readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { reports } from './report.mjs';

const checks = process.argv.includes('--check');

for (const [entry, report] of reports()) {
  const name = `${entry}.api.md`;
  const file = new URL(name, import.meta.url);
  const text = await format(report, { ...(await resolveConfig(file)), parser: 'markdown' });
  if (!checks) writeFileSync(file, text);
  else if (readFileSync(file, 'utf8') !== text) {
    console.error(`docs/api/${name} is out of date. If the change of the public API is intended, run: npm run api`);
    process.exitCode = 1;
  }
}
