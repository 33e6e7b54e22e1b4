import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { describe, expect, it } from 'vitest';
import {
  catalogVariables,
  configFileMembers,
  configurationReference,
  environmentVariables,
} from '../../docs/configuration-reference.mjs';

const FILE = join(import.meta.dirname, '..', '..', 'docs', 'configuration.md');
const document = readFileSync(FILE, 'utf8');

describe('docs/configuration.md', () => {
  it('is what the schemas say', async () => {
    const options = { ...(await resolveConfig(FILE)), parser: 'markdown' };
    expect(document, 'docs/configuration.md is out of date: run `npm run docs:config`').toBe(
      await format(configurationReference(), options),
    );
  });

  it('says what every variable and every member does', () => {
    const members = [...environmentVariables(), ...configFileMembers()];
    expect(members.length).toBeGreaterThan(40);
    expect(members.filter(({ effect }) => !/^.{8,}\.$/.test(effect)).map(({ name }) => name)).toEqual([]);
  });

  it('has a row for every variable and every member, with what happens where it is unset', () => {
    const cellsOf = (name: string): string[] | undefined =>
      document
        .split('\n')
        .map((line) => line.split(' | ').map((cell) => cell.replace(/^\| /, '').trim()))
        .find((cells) => cells.includes(`\`${name}\``));
    for (const { name, whenUnset } of [...environmentVariables(), ...configFileMembers()]) {
      expect(cellsOf(name)?.[2], name).toBe(whenUnset);
    }
    for (const { name } of catalogVariables()) expect(cellsOf(name), name).toBeDefined();
  });
});
