import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/platform/config/config-error.js';
import { loadConfig } from '../../src/platform/config/load-config.js';
import { environmentVariables } from '../../docs/configuration-reference.mjs';
import { access } from './access.js';
import { durable } from './durable.js';
import type { Effects } from './effect.js';
import { listening } from './listening.js';
import { observed } from './observed.js';
import { singleSignOn } from './single-sign-on.js';
import { stores } from './stores.js';
import { waiting } from './waiting.js';

const EFFECTS: Effects = { ...listening, ...stores, ...access, ...singleSignOn, ...waiting, ...durable, ...observed };

describe('the table of variables', () => {
  it('has an entry for each variable of the schema, and for nothing else', () => {
    expect(Object.keys(EFFECTS).sort()).toEqual(
      environmentVariables()
        .map(({ name }) => name)
        .sort(),
    );
  });
});

describe.each(Object.entries(EFFECTS))('%s', (name, { set, unset, refused }) => {
  if (set !== undefined) it('has its effect where it is set', set);
  if (unset !== undefined) it('has its default where it is not', unset);

  it('counts as unset where it is empty', () => {
    expect(loadConfig({ [name]: '' })).toEqual(loadConfig({}));
  });

  it('is refused with a clear problem, and without the value', () => {
    for (const [value, problem] of refused) {
      const problems = problemsWith({ [name]: String(value) });
      expect(problems, String(value)).toContain(problem);
      expect(problems.filter((line) => !line.startsWith(`${name}: `))).toEqual([]);
    }
  });
});

function problemsWith(variables: Readonly<Record<string, string>>): readonly string[] {
  try {
    loadConfig(variables);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}
