import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiKeysService } from '../../../src/accounts/api-keys/api-keys.service.js';
import { AuditLog } from '../../../src/accounts/audit/audit-log.js';
import { operatorSignedIn, signedIn, type AccountSession } from '../../support/account-session.js';
import { browserOf } from '../../support/as-browser.js';
import { startService, type RunningService } from '../../support/service.js';

describe('the pages with the audit log', () => {
  let service: RunningService;
  let operator: AccountSession;
  let member: AccountSession;

  beforeAll(async () => {
    service = await startService({ env: { SIGN_UP: 'closed' }, tiers: { free: {}, pro: {} } });
    operator = await operatorSignedIn(service);
    member = await signedIn(service);
  });
  afterAll(() => service.stop());

  const as = (account: AccountSession) => browserOf(service.origin, account);
  const change = async (path: string, fields: Readonly<Record<string, string>> = {}) => {
    const answer = await as(operator).post(path, { account_id: operator.accountId, ...fields });
    expect(answer.status).toBeLessThan(400);
    return answer.body();
  };
  const ofMember = async () => {
    const log = service.app.get(AuditLog, { strict: false });
    return (await log.page({ accountId: member.accountId }, undefined, 1)).entries[0];
  };
  const page = async (account: AccountSession, path: string) => {
    const answer = await as(account).get(path);
    return { status: answer.status, html: await answer.body() };
  };

  it.each([
    ['tier', { tier: 'pro' }, 'account.tier_changed'],
    ['role', { role: 'operator' }, 'account.role_changed'],
    ['password', {}, 'password_reset.created'],
    ['password/revoke', {}, 'password_reset.ended'],
    ['disable', {}, 'account.disabled'],
    ['enable', {}, 'account.enabled'],
  ])('have an entry after %s, with the operator and the address', async (path, fields, action) => {
    await change(`/operator/accounts/${member.accountId}/${path}`, fields);
    const entry = await ofMember();
    expect(entry).toMatchObject({ action });
    expect(entry?.actor).toContain(`account:${operator.accountId} (`);
    if (action !== 'password_reset.created') expect(entry?.source).toBe('127.0.0.1');
  });

  it('have entries for accounts and invitations that operators create and end', async () => {
    await change('/operator/accounts/new', { email: 'new@example.com', password: 'correct horse battery' });
    const html = await change('/operator/invitations/new', { email: 'in@example.com', tier: 'pro', days: '7' });
    expect(html).toContain('shown only once');
    const list = (await page(operator, '/operator/accounts')).html;
    await change(/\/operator\/invitations\/[^/"]+\/revoke/.exec(list)?.[0] ?? '');
    const { html: log } = await page(operator, '/operator/audit');
    for (const action of ['account.created', 'invitation.created', 'invitation.ended']) {
      expect(log).toContain(`<code>${action}</code>`);
    }
    expect(log).not.toContain('in@example.com');
  });

  it('filter by account, action and day, and name a wrong filter', async () => {
    const filtered = async (query: string) => (await page(operator, `/operator/audit?${query}`)).html;
    const ofAccount = await filtered(`account=${member.accountId}&action=account.disabled`);
    expect(ofAccount).toContain('<code>account.disabled</code>');
    expect(ofAccount).not.toContain('<code>account.enabled</code>');
    expect(await filtered('to=2020-01-01')).toContain('No entry matches.');
    expect(await filtered('from=yesterday')).toContain('YYYY-MM-DD');
    expect(await filtered('account=nobody@example.com')).toContain('There is no account');
  });

  it('name the account and the key, and have values as people write them', async () => {
    const own = await signedIn(service);
    const keys = service.app.get(ApiKeysService, { strict: false });
    const budget = { budgetMicros: 5_000_000, budgetPer: 'month' } as const;
    const { id } = await keys.create(own.accountId, {
      name: 'the (old) CI',
      limits: { ...budget, models: ['acme/*'] },
    });
    await service.app
      .get(ApiKeysService, { strict: false })
      .update(id, { limits: { ...budget, budgetMicros: 7_500_000, requestsPerMinute: 1_200 } });
    const { html } = await page(operator, `/operator/audit?account=${own.email}`);
    expect(html).toContain(`key the (old) CI of ${own.email}`);
    expect(html).toContain('budget: $5.00 per month');
    expect(html).toContain('budget: $5.00 per month → $7.50 per month');
    expect(html).toContain('requests per minute: none → 1,200');
    expect(html).not.toMatch(/5000000|budget_micros/);
    const file = await as(operator).get(`/operator/audit/export.csv?account=${own.accountId}&action=key.created`);
    expect(await file.body()).toContain('""budget_micros"":5000000');
  });

  it('download the entries as CSV', async () => {
    const answer = await as(operator).get(`/operator/audit/export.csv?account=${member.accountId}`);
    expect(answer.headers['content-type']).toBe('text/csv; charset=utf-8');
    const [head, first] = (await answer.body()).split('\r\n');
    expect(head).toBe('at,actor,action,target,source,before,after');
    expect(first).toContain('account.enabled');
  });

  it('show an account its own changes, without the operator who made them', async () => {
    const own = await signedIn(service);
    await change(`/operator/accounts/${own.accountId}/tier`, { tier: 'pro' });
    const { status, html } = await page(own, '/settings/activity');
    expect(status).toBe(200);
    expect(html).toContain('account.tier_changed');
    expect(html).toContain('tier: free → pro');
    expect(html).toContain('operator');
    expect(html).not.toContain(operator.accountId);
    expect(html).not.toContain(member.accountId);
  });

  it('are not there for members', async () => {
    const own = await signedIn(service);
    for (const path of ['/operator/audit', '/operator/audit/export.csv']) {
      expect((await page(own, path)).status).toBe(404);
    }
  });
});
