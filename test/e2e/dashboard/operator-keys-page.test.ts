import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AuditLog } from '../../../src/accounts/audit/audit-log.js';
import { OperatorKeys } from '../../../src/accounts/operator-keys/operator-keys.service.js';
import { operatorSignedIn, signedIn, type AccountSession } from '../../support/account-session.js';
import { browserOf } from '../../support/as-browser.js';
import { OperatorClient } from '../../support/operator-client.js';
import { startService, type RunningService } from '../../support/service.js';

const PATH = '/operator/keys';

describe('the page with the operator keys', () => {
  let service: RunningService;
  let operator: AccountSession;

  beforeAll(async () => {
    service = await startService();
    operator = await operatorSignedIn(service);
  });
  afterAll(() => service.stop());

  const post = async (path: string, fields: Readonly<Record<string, string>>, as = operator) => {
    const answer = await browserOf(service.origin, as).post(path, { account_id: as.accountId, ...fields });
    return { status: answer.status, html: await answer.body() };
  };
  const show = async (as = operator, query = '') => {
    const answer = await browserOf(service.origin, as).get(PATH + query);
    return { status: answer.status, html: await answer.body() };
  };
  const latestEntry = async () =>
    (await service.app.get(AuditLog, { strict: false }).page({}, undefined, 1)).entries[0];

  it('creates a key, shows it once, and revokes it', async () => {
    expect((await show()).html).toContain('No keys yet.');
    const created = await post(PATH, { name: '<portal>', scope: 'write', expires_in_days: '90' });
    expect(created.status).toBe(201);
    const key = /csk_op_\w{49}/.exec(created.html)?.[0] ?? '';
    const actor = `account:${operator.accountId} (${operator.email})`;
    expect(await latestEntry()).toMatchObject({ actor, action: 'operator_key.created', source: '127.0.0.1' });
    const client = new OperatorClient(service.origin, key);
    expect((await client.get('accounts')).status).toBe(200);

    const { html } = await show();
    expect(html).toContain('&lt;portal>');
    expect(html).toContain('Read and change');
    expect(html).not.toContain(key);
    const revoke = /\/operator\/keys\/[^/"]+\/revoke/.exec(html)?.[0] ?? '';
    expect((await post(revoke, {})).status).toBe(303);
    expect(await latestEntry()).toMatchObject({ actor, action: 'operator_key.revoked' });
    expect((await client.get('accounts')).status).toBe(401);
    const after = await show(operator, '?done=revoked');
    expect(after.html).toContain('The key was revoked.');
    expect(after.html).not.toContain(revoke);
  });

  it('shows what is wrong with the form, and keeps its values', async () => {
    const { status, html } = await post(PATH, { name: ' ', scope: 'write', expires_in_days: '7' });
    expect(status).toBe(400);
    expect(html).toContain('The name must have 1 to 100 characters.');
    expect(html).toMatch(/<option[^>]*value="write"[^>]*selected/);
    expect((await post(PATH, { name: 'ci', scope: 'root' })).status).toBe(400);
    expect((await post(PATH, { name: 'ci', expires_in_days: '8' })).status).toBe(400);
  });

  it('lists the keys in pages', async () => {
    const keys = service.app.get(OperatorKeys, { strict: false });
    for (let index = 0; index < 60; index++) await keys.create({ name: `key ${index}`, scope: 'read' });
    const { html } = await show();
    const older = /href="\/operator\/keys(\?before[^"]*)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect(older).not.toBe('');
    expect((await show(operator, older)).html).toContain('key 0');
  });

  it('is linked from the page of all accounts, and is not there for members', async () => {
    const accounts = await browserOf(service.origin, operator).get('/operator/accounts');
    expect(await accounts.body()).toContain(`href="${PATH}"`);
    const member = await signedIn(service);
    expect((await show(member)).status).toBe(404);
    expect((await post(PATH, { name: 'mine', scope: 'write' }, member)).status).toBe(404);
  });
});
