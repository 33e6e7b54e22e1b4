// Lists the facts of the built-in catalog that nobody has checked for 120 days: `npm run catalog`.
// Another file and another day can be named: node docs/list-old-facts.mjs --file my-catalog.yaml --on 2027-06-01
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';

const MAX_DAYS = 120;
const MS_PER_DAY = 86_400_000;

const { values } = parseArgs({ options: { file: { type: 'string' }, on: { type: 'string' } } });
const file = values.file ?? new URL('../src/platform/config/catalog.yaml', import.meta.url);
const { upstreams, models } = parse(readFileSync(file, 'utf8'));
const now = values.on === undefined ? Date.now() : Date.parse(values.on);

const entries = [...Object.entries(upstreams), ...models.map((model) => [model.id, model])];
const old = entries.flatMap(([name, { facts = [] }]) =>
  facts
    .map(({ of, source, checked }) => ({
      days: Math.floor((now - Date.parse(checked)) / MS_PER_DAY),
      of,
      source,
      checked,
    }))
    .filter(({ days }) => days > MAX_DAYS)
    .map(
      ({ days, of, source, checked }) => `${name}: ${of.join(', ')}: checked ${checked}, ${days} days ago: ${source}`,
    ),
);
console.log(old.length === 0 ? `No fact is older than ${MAX_DAYS} days.` : old.join('\n'));
