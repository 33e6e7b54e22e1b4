import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from './documents.js';

const FILES = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' }).filter(
  (path) => path.endsWith('.ts') && !path.startsWith(join('mutation', 'output')),
);

it('every unit test has the path of its source file', () => {
  const tests = FILES.filter((path) => path.startsWith('unit') && path.endsWith('.test.ts'));
  const withoutSource = tests.filter((path) => {
    const source = join(ROOT, 'src', path.slice('unit/'.length, -'.test.ts'.length));
    return !['.ts', '.tsx', '.js'].some((extension) => existsSync(source + extension));
  });
  expect(withoutSource).toEqual([]);
});

it('every word that CI requires in the name of a test is in a title, or is a parameter of one', () => {
  const [, list = ''] = /REQUIRED = \[(.*?)\n\];/s.exec(readFileSync(join(ROOT, '.ci', 'summary.mjs'), 'utf8')) ?? [];
  const words = [...list.matchAll(/'([^']+)'/g)].map(([, word = '']) => word);
  const code = FILES.map((path) => readFileSync(join(ROOT, 'test', path), 'utf8')).join('\n');
  const titles = [...code.matchAll(/\b(?:describe|it)\b[^\n]*?\(\s*(['"`])(.*?)\1/gs)].map(([, , title]) => title);
  expect(words.length).toBeGreaterThan(0);
  const missing = words.filter((word) => !titles.some((title) => title?.includes(word)) && !code.includes(`'${word}'`));
  expect(missing).toEqual([]);
});
