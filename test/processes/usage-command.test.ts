import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configFile, MODEL, routesTo } from '../support/catalog.js';
import { Installation } from '../support/process.js';
import { ScriptedProvider } from '../../src/testing/provider/scripted-provider.js';
import { get, stream } from '../support/sse-client.js';
import { waitFor } from '../support/wait-for.js';

/** An address that a spreadsheet would take for a formula. */
const EMAIL = '=sum@example.com';

describe('npm run admin -- usage', () => {
  let provider: ScriptedProvider;
  let installation: Installation;
  const today = new Date().toISOString().slice(0, 10);

  beforeAll(async () => {
    provider = await ScriptedProvider.start();
    installation = await Installation.create(configFile(routesTo([provider])));
    const [first, second] = [await installation.createKey(EMAIL), await installation.createKey('bob@example.com')];
    const service = installation.start();
    const origin = await service.origin();
    await Promise.all([first, first, second].map(({ key }) => stream(origin, { key })));
    await waitFor(async () => {
      const answer = await get(origin, '/api/v1/usage', { authorization: `Bearer ${first.key}` });
      return (JSON.parse(answer.raw) as { usage: { requests: number }[] }).usage[0]?.requests === 2;
    }, 'the ledger');
    service.signal('SIGTERM');
    await service.exited;
  }, 60_000);
  afterAll(async () => {
    await installation.remove();
    await provider.stop();
  });

  const run = async (...words: string[]): Promise<string> => installation.adminText('usage', ...words);

  it('prints everyone’s figures as JSON in one line', async () => {
    const text = await run();
    expect(text.trimEnd()).not.toContain('\n');
    const rows = JSON.parse(text) as { email: string; requests: number; model: string }[];
    expect(rows.map(({ email, requests, model }) => [email, requests, model]).sort()).toEqual([
      [EMAIL, 2, MODEL],
      ['bob@example.com', 1, MODEL],
    ]);
  });

  it('prints those of one account as CSV, with nothing that a spreadsheet would run', async () => {
    const [head, row, ...rest] = (await run('--email', EMAIL, '--format', 'csv')).trimEnd().split('\r\n');
    expect(rest).toEqual([]);
    expect(head?.split(',').slice(0, 4)).toEqual(['day', 'account_id', 'email', 'model']);
    expect(row).toContain(`,'${EMAIL},${MODEL},`);
    expect(row?.startsWith(today)).toBe(true);
  });

  it('keeps to the period', async () => {
    expect(JSON.parse(await run('--from', '2026-01-01', '--to', '2026-01-02'))).toEqual([]);
  });

  it.each([
    [['--from', '2026-02-30'], 'from: must be a day'],
    [['--from', '2026-02-02', '--to', '2026-02-01'], 'from: must not be after'],
    [['--from', '2020-01-01'], 'from: must not be more than'],
    [['--format', 'xml'], '--format must be json or csv'],
    [['--email', 'nobody@example.com'], 'There is no account'],
  ])('refuses %j', async (words, message) => {
    await expect(run(...words)).rejects.toThrow(message);
  });

  it('keeps the figures of a deleted account, without its address', async () => {
    const { id } = await installation.admin('account', 'delete', '--email', 'bob@example.com');
    const rows = JSON.parse(await run()) as { account_id: string; email: string | null; requests: number }[];
    expect(rows.find(({ account_id }) => account_id === id)).toMatchObject({ email: null, requests: 1 });
  });
});
