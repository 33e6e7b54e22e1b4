import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from './documents.js';

const reportOf = (entry: string) => readFileSync(join(ROOT, 'docs', 'api', `${entry}.api.md`), 'utf8');

describe('the reports of the public API', () => {
  it('are those of the code', () => {
    const script = join(ROOT, 'docs', 'api', 'write-reports.mjs');
    const { status, stderr } = spawnSync(process.execPath, [script, '--check'], { encoding: 'utf8' });
    expect(stderr).toBe('');
    expect(status).toBe(0);
  });

  it.each([
    ['index', 'export declare function ChatPlugin(description: PluginDescription): ClassDecorator;'],
    ['index', 'interface AsyncConfig'],
    ['testing', 'export declare function createTestService('],
    ['client', 'export declare class ChatClient {'],
  ])('have the exports and the types that they use: %s has %s', (entry, declaration) => {
    expect(reportOf(entry)).toContain(declaration);
  });

  it('carry the docstrings of names and of their members', () => {
    expect(reportOf('index')).toContain(' * Injection token of {@link Config}.\n * @since 1.0\n');
    expect(reportOf('index')).toContain('  /** Whether any account exists. */\n  hasAny(): Promise<boolean>;');
  });

  it('leave out private members', () => {
    const declarations = reportOf('index').matchAll(/^export declare class (\w+)[\s\S]*?^\}/gm);
    const classes = new Map([...declarations].map(([text, name]) => [name, text]));
    expect(classes.get('AccountsService')).toContain('findByEmail(');
    expect([...classes.values()].filter((text) => /\bprivate\b|constructor\(private/.test(text))).toEqual([]);
  });
});
