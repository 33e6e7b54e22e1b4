import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ChatPlugin } from '../../../src/plugin-api/chat-plugin.decorator.js';
import type { AdminCommand } from '../../../src/plugin-api/plugin-description.js';
import { adminCommand } from '../../support/admin-command.js';

class ExportCommand implements AdminCommand {
  static readonly command = { name: 'prompts export', optional: { json: 'FILE' } };

  run(options: Readonly<Record<string, string | undefined>>): Promise<unknown> {
    return Promise.resolve({ ...options });
  }
}

@ChatPlugin({ name: 'export', compatibility: '^1', admin: { commands: [ExportCommand] } })
class ExportPlugin {}

describe('a command of a plugin with an option named json', () => {
  let folder: string;
  let env: Record<string, string>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'chat-command-'));
    env = { DATABASE_URL: `sqlite:${join(folder, 'chat.sqlite')}` };
    await adminCommand(env, ['account', 'create', '--email', 'ada@example.com', '--password-stdin'], 'a long password');
  });
  afterAll(() => rm(folder, { recursive: true }));

  const run = (...words: string[]) => adminCommand(env, words, undefined, [ExportPlugin]);

  it('gets the value of the option', async () => {
    const { exitCode, stdout, stderr } = await run('prompts', 'export', '--json', 'prompts.json');
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toEqual({ json: 'prompts.json' });
  });

  it('does not offer the option of the other commands', async () => {
    const { stdout } = await run('prompts', 'export', '--help');
    expect(stdout).toBe('Usage: prompts export [--json FILE]\n');
  });
});
