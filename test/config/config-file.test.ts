import { describe, expect, it } from 'vitest';
import { catalogVariables, configFileMembers } from '../../docs/configuration-reference.mjs';
import { catalogMembers } from './catalog-members.js';
import { serving, type Effects } from './effect.js';
import { placeOf, problemsOfFile } from './file-problems.js';
import { modelsOf } from './stores.js';
import { priceMembers } from './price-members.js';
import { upstreamMembers } from './upstream-members.js';
import { webhookMembers } from './webhook-members.js';

const EFFECTS: Effects = { ...upstreamMembers, ...catalogMembers, ...priceMembers, ...webhookMembers };
const NAMES = configFileMembers().map(({ name }) => name);
const isGroup = (name: string): boolean =>
  NAMES.some((other) => other.startsWith(`${name}.`) || other.startsWith(`${name}[]`));

describe('the table of members', () => {
  it('has an entry for each member of the schema, and for nothing else', () => {
    expect(Object.keys(EFFECTS).sort()).toEqual(NAMES.filter((name) => !isGroup(name)).sort());
  });

  it('refuses groups that are none, by name', () => {
    for (const name of NAMES.filter(isGroup)) {
      const [problem] = problemsOfFile(name, 'x');
      expect(problem).toMatch(new RegExp(`^CONFIG_FILE\\.${placeOf(name)}: Invalid input: expected`));
    }
  });
});

describe.each(Object.entries(EFFECTS))('%s', (name, { set, unset, refused }) => {
  if (set !== undefined) it('has its effect where it is set', set);
  if (unset !== undefined) it('has its default where it is not', unset);

  it('is refused with a clear problem that names it', () => {
    expect(refused.length).toBeGreaterThan(0);
    for (const [value, problem] of refused) {
      const problems = problemsOfFile(name, value);
      expect(problems.map((line) => line.split(': ', 1)[0])).toEqual([`CONFIG_FILE.${placeOf(name)}`]);
      expect(problems[0]).toContain(problem);
    }
  });
});

describe('an upstream with several problems', () => {
  it('is refused with all of them at once', () => {
    const upstream = { protocol: 'openai', base_url: 'ftp://provider', api_key: 'a\nb', headers: { 'x-team': 'é\n' } };
    expect(problemsOfFile('upstreams.acme', upstream)).toEqual([
      'CONFIG_FILE.upstreams.acme.base_url: must start with http:// or https://',
      'CONFIG_FILE.upstreams.acme.api_key: contains a character that is not allowed in a header',
      'CONFIG_FILE.upstreams.acme.headers.x-team: contains a character that is not allowed in a header',
    ]);
  });
});

/** Regions and projects are checked at the start. */
function valueOf(name: string): string {
  if (/REGION|LOCATION/.test(name)) return 'us-east-1';
  return name.includes('PROJECT') ? 'project-1' : 'http://127.0.0.1:9';
}

describe('the variables of the built-in catalog', () => {
  const all = catalogVariables();
  const upstreams = [...new Set(all.map(({ upstream }) => upstream))];

  it.each(upstreams)('list models of %s once they are set', async (upstream) => {
    const variables = all.filter((variable) => variable.upstream === upstream);
    const env = Object.fromEntries(variables.map(({ name }) => [name, valueOf(name)]));
    await serving({ env: { CONFIG_FILE: '', ...env } }, async ({ origin }) => {
      expect((await modelsOf(origin)).length).toBeGreaterThan(1);
    });
  });
});
