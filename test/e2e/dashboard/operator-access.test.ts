import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AccountRoles } from '../../../src/accounts/accounts/account-roles.js';
import { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import { ApiKeysService } from '../../../src/accounts/api-keys/api-keys.service.js';
import { operatorSignedIn, signedIn, type AccountSession } from '../../support/account-session.js';
import { adminCommand } from '../../support/admin-command.js';
import { browserOf } from '../../support/as-browser.js';
import { browserClient } from '../../support/browser-client.js';
import { testEngines, urlOf, type TestDatabase } from '../../support/database.js';
import { KNOWN_WITHIN_MS } from '../../support/known-within.js';
import { startService, type RunningService } from '../../support/service.js';
import { lastBefore, waitFor } from '../../support/wait-for.js';

const LIST = '/operator/accounts';

describe.each(await testEngines())('the access to the pages of operators on $name', (engine) => {
  let database: TestDatabase;
  let env: Record<string, string>;
  let service: RunningService;
  let operator: AccountSession;
  let member: AccountSession;

  beforeAll(async () => {
    database = await engine.create();
    env = { DATABASE_URL: urlOf(database) };
    service = await startService({ env, tiers: { free: {}, pro: {} } });
    operator = await operatorSignedIn(service);
    member = await signedIn(service);
  });
  afterAll(async () => {
    await service.stop();
    await database.drop();
  });

  const accounts = () => service.app.get(AccountsService, { strict: false });
  const stateOf = async ({ accountId }: AccountSession) => {
    const account = await accounts().findById(accountId);
    return { tier: account?.tier, isDisabled: account?.disabledAt !== null };
  };
  const pathsOf = ({ accountId }: AccountSession, keyId: string) => ({
    pages: ['', '/disable', `/keys/${keyId}/revoke`].map((path) => `${LIST}/${accountId}${path}`),
    changes: ['/tier', '/disable', '/enable', `/keys/${keyId}/revoke`].map((path) => `${LIST}/${accountId}${path}`),
  });

  it('is in the navigation of operators only', async () => {
    const home = async (person: AccountSession) => (await browserOf(service.origin, person).get('/usage')).body();
    expect(await home(operator)).toContain(`href="${LIST}"`);
    expect(await home(member)).not.toContain(LIST);
  });

  it('is not there for members, visitors and API keys: nothing is shown, and nothing changes', async () => {
    const { id: keyId } = await service.app
      .get(ApiKeysService, { strict: false })
      .create(operator.accountId, { name: 'laptop' });
    const { key } = await service.createKey();
    const operatorKey = await service.createKey({ email: operator.email });
    const { pages, changes } = pathsOf(operator, keyId);
    const visitors = [
      browserOf(service.origin, member),
      ...[key, operatorKey.key].map((each) => {
        const client = browserClient(service.origin);
        return { get: (path: string) => client.get(path, { authorization: `Bearer ${each}` }), post: undefined };
      }),
    ];
    for (const visitor of visitors) {
      for (const path of [LIST, ...pages]) {
        const answer = await visitor.get(path);
        const html = await answer.body();
        expect([path, answer.status]).toEqual([path, 404]);
        expect(html).toContain('This path does not exist.');
        expect(html).not.toContain(operator.email);
      }
      if (visitor.post === undefined) continue;
      for (const path of changes) {
        const answer = await visitor.post(path, { tier: 'pro' });
        expect([path, answer.status]).toEqual([path, 404]);
      }
    }
    expect(await stateOf(operator)).toEqual({ tier: 'free', isDisabled: false });
    const kept = await service.app.get(ApiKeysService, { strict: false }).find(keyId, operator.accountId);
    expect(kept.revokedAt).toBeNull();
  });

  it('asks a browser to sign in whose session has expired, and leads back to the page', async () => {
    const client = browserClient(service.origin);
    const page = await client.get(`${LIST}?q=a`, { accept: 'text/html' });
    expect([page.status, page.headers.location]).toEqual([303, `/sign-in?next=${encodeURIComponent(`${LIST}?q=a`)}`]);
    const form = await client.post(`${LIST}/${member.accountId}/disable`, {});
    expect([form.status, form.headers.location]).toEqual([
      303,
      `/sign-in?next=${encodeURIComponent(`${LIST}/${member.accountId}/disable`)}`,
    ]);
    expect(await stateOf(member)).toEqual({ tier: 'free', isDisabled: false });
  });

  it.each([
    ['another site', { origin: 'https://evil.example' }],
    ['an unknown page', { origin: 'null' }],
    ['a sibling host', { 'sec-fetch-site': 'same-site' }],
  ])('accepts no form from %s', async (_, headers) => {
    const person = await signedIn(service);
    const client = browserOf(service.origin, operator);
    const answer = await client.post(`${LIST}/${person.accountId}/disable`, {}, headers);
    expect(answer.status).toBe(403);
    expect(await stateOf(person)).toEqual({ tier: 'free', isDisabled: false });
  });

  it('accepts no form of a page of another account', async () => {
    const client = browserOf(service.origin, operator);
    const person = await signedIn(service);
    const { id: keyId } = await service.app
      .get(ApiKeysService, { strict: false })
      .create(person.accountId, { name: 'laptop' });
    for (const path of pathsOf(person, keyId).changes) {
      const answer = await client.post(path, { tier: 'pro', account_id: member.accountId });
      expect([path, answer.status]).toEqual([path, 409]);
      expect(await answer.body()).toContain('Signed in to another account');
    }
    expect(await stateOf(person)).toEqual({ tier: 'free', isDisabled: false });
  });

  it('is given and withdrawn by the admin command, during the run of the service, within a second', async () => {
    const client = browserOf(service.origin, member);
    const command = async (role: string) => {
      const words = ['account', 'role', '--email', member.email.toUpperCase(), '--role', role];
      const { exitCode, stdout } = await adminCommand(env, words);
      expect({ exitCode, output: JSON.parse(stdout) as unknown }).toEqual({
        exitCode: 0,
        output: { id: member.accountId, email: member.email, role },
      });
    };
    const status = async () => (await client.get(LIST)).status;
    expect(await status()).toBe(404);
    await command('operator');
    const givenAt = performance.now();
    const lastClosed = await lastBefore(async () => (await status()) === 200, 'the page to open');
    expect(lastClosed - givenAt).toBeLessThan(KNOWN_WITHIN_MS);
    await command('member');
    const withdrawnAt = performance.now();
    const person = await signedIn(service);
    // The session is remembered for half a second, but not for a change.
    expect((await client.post(`${LIST}/${person.accountId}/disable`, {})).status).toBe(404);
    const lastOpen = await lastBefore(async () => (await status()) === 404, 'the page to close');
    expect(lastOpen - withdrawnAt).toBeLessThan(KNOWN_WITHIN_MS);
    expect(await stateOf(person)).toEqual({ tier: 'free', isDisabled: false });
  });

  it('ends for a form that is still on its way when the role is withdrawn', async () => {
    const former = await operatorSignedIn(service);
    const person = await signedIn(service);
    const body = new URLSearchParams({ account_id: former.accountId }).toString();
    const { hostname, port } = new URL(service.origin);
    const socket = connect(Number(port), hostname);
    let answer = '';
    socket.setEncoding('latin1').on('data', (text: string) => (answer += text));
    await once(socket, 'connect');
    socket.write(
      [
        `POST ${LIST}/${person.accountId}/disable HTTP/1.1`,
        `Host: ${hostname}:${port}`,
        `Origin: ${service.origin}`,
        `Cookie: ${former.cookie.name}=${former.cookie.value}`,
        'Content-Type: application/x-www-form-urlencoded',
        `Content-Length: ${body.length}`,
        'Expect: 100-continue',
        'Connection: close',
        '\r\n',
      ].join('\r\n'),
    );
    await waitFor(() => answer.includes('100 Continue'), 'the service to wait for the form');
    await service.app.get(AccountRoles, { strict: false }).set({ id: former.accountId }, 'member');
    socket.write(body);
    await once(socket, 'end');
    expect(answer).toContain('404 Not Found');
    expect(await stateOf(person)).toEqual({ tier: 'free', isDisabled: false });
  });

  it('ends with the account of the operator', async () => {
    const other = await operatorSignedIn(service);
    const client = browserOf(service.origin, other);
    expect((await client.get(LIST)).status).toBe(200);
    const disabled = await browserOf(service.origin, operator).postForm(`${LIST}/${other.accountId}/disable`);
    expect(disabled.status).toBe(303);
    expect((await client.get(LIST)).status).toBe(303);
  });
});
