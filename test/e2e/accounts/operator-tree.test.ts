import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AccountRoles } from '../../../src/accounts/accounts/account-roles.js';
import { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import { operatorSignedIn, signedIn, type AccountSession } from '../../support/account-session.js';
import { browserOf } from '../../support/as-browser.js';
import { browserClient } from '../../support/browser-client.js';
import { testEngines, urlOf, type TestDatabase } from '../../support/database.js';
import { OperatorClient } from '../../support/operator-client.js';
import { startService, type RunningService } from '../../support/service.js';
import { signOn, signOnStage, startSignOn } from '../../support/single-sign-on/sign-on-stage.js';
import { PASSWORD } from '../../support/usual-password.js';

const KEYS = '/operator/keys';
const ACCOUNTS = '/operator/accounts';

interface MadeKey {
  readonly id: string;
  readonly client: OperatorClient;
}

/** Makes an operator key on the page. */
async function makeKey(origin: string, operator: AccountSession, name: string): Promise<MadeKey> {
  const fields = { account_id: operator.accountId, name, scope: 'write' };
  const answer = await browserOf(origin, operator).post(KEYS, fields);
  const key = /csk_op_\w{49}/.exec(await answer.body())?.[0] ?? '';
  const client = new OperatorClient(origin, key);
  const listed = await client.all('operator-keys');
  return { id: String(listed.find((each) => each['name'] === name)?.['id']), client };
}

/** What the operator `ada` has made by herself and by her key. */
interface Made {
  readonly ada: AccountSession;
  /** Made by `ada` on the page. */
  readonly key: MadeKey;
  /** Made an operator by the key. */
  readonly bob: AccountSession;
  /** Made by `bob` on the page. */
  readonly keyOfBob: MadeKey;
  /** Links that the key has made. */
  readonly invitation: string;
  readonly passwordLink: string;
}

describe.each(await testEngines())('what an operator has made, on $name', (engine) => {
  let database: TestDatabase;
  let service: RunningService;
  let other: AccountSession;
  let provisioning: OperatorClient;
  let made: Made;
  let count = 0;

  beforeAll(async () => {
    database = await engine.create();
    const url = urlOf(database);
    service = await startService({ env: { DATABASE_URL: url } });
    other = await operatorSignedIn(service);
    provisioning = await OperatorClient.of(service.app, service.origin, 'write');
  });
  afterAll(async () => {
    await service.stop();
    await database.drop();
  });
  beforeEach(async () => {
    made = await makeTree();
  });

  async function makeTree(): Promise<Made> {
    const { origin } = service;
    count += 1;
    const [ada, bob, member] = [await operatorSignedIn(service), await signedIn(service), await signedIn(service)];
    const key = await makeKey(origin, ada, `key-${count} of ada`);
    expect((await key.client.send('PATCH', `accounts/${bob.accountId}`, { role: 'operator' })).status).toBe(200);
    await expect.poll(async () => (await browserOf(origin, bob).get(KEYS)).status).toBe(200);
    const keyOfBob = await makeKey(origin, bob, `key-${count} of bob`);
    const invited = { email: `invited-${count}@example.com`, role: 'operator' };
    const invitation = await key.client.send('POST', 'invitations', invited);
    const passwordLink = await key.client.send('POST', `accounts/${member.accountId}/password-reset`);
    return {
      ...{ ada, key, bob, keyOfBob },
      invitation: new URL(String(invitation.body['link'])).pathname,
      passwordLink: new URL(String(passwordLink.body['link'])).pathname,
    };
  }

  const post = async (path: string, fields: Readonly<Record<string, string>> = {}, as = other) =>
    browserOf(service.origin, as).post(path, { account_id: as.accountId, ...fields });
  const page = async (path: string) => (await browserOf(service.origin, other).get(path)).body();
  const opens = async (link: string) => (await browserClient(service.origin).get(link)).status === 200;
  const roleOf = async ({ accountId }: AccountSession) =>
    (await service.app.get(AccountsService, { strict: false }).findById(accountId))?.role;

  /** What still works. */
  async function working({ key, bob, keyOfBob, invitation, passwordLink }: Made) {
    return {
      key: (await key.client.get('accounts?limit=1')).status === 200,
      bob: (await roleOf(bob)) === 'operator',
      keyOfBob: (await keyOfBob.client.get('accounts?limit=1')).status === 200,
      invitation: await opens(invitation),
      passwordLink: await opens(passwordLink),
    };
  }
  const ALL = { key: true, bob: true, keyOfBob: true, invitation: true, passwordLink: true };
  const NOTHING = { key: false, bob: false, keyOfBob: false, invitation: false, passwordLink: false };

  const accountPath = () => `${ACCOUNTS}/${made.ada.accountId}`;
  const inApi = () => `accounts/${made.ada.accountId}`;
  const leak = (key: string) =>
    fetch(`${service.origin}/api/v1/keys/leaked`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify([{ token: key }]),
    });

  it.each<[string, () => Promise<{ status: number }>]>([
    ['is disabled on the page', () => post(`${accountPath()}/disable`, { asks: 'yes', end_made: 'yes' })],
    ['is disabled by a form that asks nothing', () => post(`${accountPath()}/disable`)],
    ['is deleted on the page', () => post(`${accountPath()}/delete`, { asks: 'yes', end_made: 'yes' })],
    ['becomes a member on the page', () => post(`${accountPath()}/role`, { role: 'member' })],
    ['is disabled by the API', () => provisioning.send('PATCH', inApi(), { disabled: true })],
    ['becomes a member by the API', () => provisioning.send('PATCH', inApi(), { role: 'member' })],
    ['is deleted by the API', () => provisioning.send('DELETE', inApi())],
    ['loses the key that has made it on the page', () => post(`${KEYS}/${made.key.id}/revoke`)],
    ['loses the key by the API', () => provisioning.send('POST', `operator-keys/${made.key.id}/revoke`)],
    ['has a key that leaks', () => leak(made.key.client.key)],
  ])('ends when the operator %s', async (_, end) => {
    expect(await working(made)).toEqual(ALL);
    expect((await end()).status).toBeLessThan(400);
    expect(await working(made)).toEqual(NOTHING);
    // The session of a person who has lost the role.
    await expect.poll(async () => (await browserOf(service.origin, made.bob).get(KEYS)).status).toBe(404);
  });

  it.each<[string, () => Promise<{ status: number }>]>([
    ['on the page', () => post(`${accountPath()}/disable`, { asks: 'yes' })],
    ['by the API', () => provisioning.send('PATCH', inApi(), { disabled: true, keep_made: true })],
    ['by the API, when it is deleted', () => provisioning.send('DELETE', `${inApi()}?keep_made=true`)],
  ])('stays if whoever ends the operator wants it: %s', async (_, end) => {
    expect((await end()).status).toBeLessThan(400);
    expect(await working(made)).toEqual(ALL);
  });

  it('stays when another operator, or another key, ends', async () => {
    const stranger = await operatorSignedIn(service);
    const key = await makeKey(service.origin, stranger, `key-${count} of a stranger`);
    await post(`${ACCOUNTS}/${stranger.accountId}/disable`);
    expect((await key.client.get('accounts')).status).toBe(401);
    await post(`${KEYS}/${made.keyOfBob.id}/revoke`);
    expect(await working(made)).toEqual({ ...ALL, keyOfBob: false });
  });

  it('keeps the time at which a key was revoked before', async () => {
    const revokedAt = async () =>
      (await provisioning.all('operator-keys')).find(({ id }) => id === made.keyOfBob.id)?.['revoked_at'];
    await post(`${KEYS}/${made.keyOfBob.id}/revoke`);
    const before = await revokedAt();
    expect(before).toEqual(expect.any(String));
    await post(`${accountPath()}/disable`);
    expect(await working(made)).toEqual(NOTHING);
    expect(await revokedAt()).toBe(before);
  });

  it('includes people whom people have made operators only if it is wanted', async () => {
    const person = await signedIn(service);
    await post(`${ACCOUNTS}/${person.accountId}/role`, { role: 'operator' }, made.ada);
    await expect.poll(async () => (await browserOf(service.origin, person).get(KEYS)).status).toBe(200);
    const key = await makeKey(service.origin, person, `key-${count} of a person`);
    await post(`${accountPath()}/disable`);
    expect([await roleOf(person), (await key.client.get('accounts')).status]).toEqual(['operator', 200]);
    await provisioning.send('PATCH', inApi(), { disabled: true, end_operators: true });
    expect([await roleOf(person), (await key.client.get('accounts')).status]).toEqual(['member', 401]);
  });

  it('includes the account of an operator who was invited by a key', async () => {
    const guest = browserClient(service.origin);
    expect((await guest.post(made.invitation, { password: PASSWORD })).status).toBe(303);
    expect((await guest.get(KEYS)).status).toBe(200);
    await post(`${KEYS}/${made.key.id}/revoke`);
    await expect.poll(async () => (await guest.get(KEYS)).status).toBe(404);
  });

  it('does not include whoever ends it', async () => {
    await provisioning.send('PATCH', `accounts/${made.bob.accountId}`, { disabled: false });
    expect((await post(`${accountPath()}/disable`, {}, made.bob)).status).toBe(303);
    expect(await working(made)).toEqual({ ...NOTHING, bob: true, keyOfBob: true });
  });

  it('is shown as a tree before it ends, and the form offers to end it', async () => {
    const html = await page(`${accountPath()}/disable`);
    const tree = /<h2>What it has made<\/h2>(.*?)<\/section>/s.exec(html)?.[1]?.replaceAll(/ href="[^"]*"/g, '') ?? '';
    expect(tree.replaceAll(/<\/?(?:a|strong)>/g, '')).toContain(
      `<ul><li>Operator key key-${count} of ada<ul><li>Operator ${made.bob.email}<ul><li>Operator key key-${count} of bob`,
    );
    expect(tree).toContain(`invited-${count}@example.com`);
    expect(tree).toContain('Link for a new password of');
    expect(html).toMatch(/<input type="checkbox"[^>]*name="end_made"[^>]*checked/);
    for (const path of [`${accountPath()}/delete`, `${accountPath()}/role`, `${KEYS}/${made.key.id}/revoke`]) {
      expect(await page(path), path).toContain(made.bob.email);
    }
    const nothing = await page(`${ACCOUNTS}/${(await signedIn(service)).accountId}/disable`);
    expect(nothing).not.toContain('What it has made');
    expect(nothing).not.toContain('end_made');
  });

  it('is in the lists, with who has made it', async () => {
    const keys = await provisioning.all('operator-keys');
    const makerOf = ({ id }: MadeKey) => keys.find((each) => each['id'] === id)?.['created_by'];
    expect([made.key, made.keyOfBob].map(makerOf)).toEqual([made.ada.accountId, made.bob.accountId]);
    const { body } = await provisioning.get(`accounts/${made.bob.accountId}`);
    expect(body).toMatchObject({ role: 'operator', operator_by: made.key.id });
    const listed = await page(KEYS);
    expect(listed).toContain(made.ada.email);
    expect(listed).toContain(made.bob.email);
  });

  it('cannot be added by an operator or a key that has ended a moment ago', async () => {
    const roles = service.app.get(AccountRoles, { strict: false });
    const person = await signedIn(service);
    await provisioning.send('PATCH', inApi(), { disabled: true });
    for (const actor of [`account:${made.ada.accountId}`, `operator-key:${made.key.id}`]) {
      const late = roles.set({ id: person.accountId }, 'operator', { actor });
      await expect(late).rejects.toMatchObject({ code: 'forbidden' });
    }
    expect(await roleOf(person)).toBe('member');
  });

  it('refuses values that are neither true nor false', async () => {
    const answers = [
      await provisioning.send('DELETE', `${inApi()}?keep_made=yes`),
      await provisioning.send('DELETE', `${inApi()}?keep=true`),
      await provisioning.send('PATCH', inApi(), { disabled: true, keep_made: 'yes' }),
      await provisioning.send('POST', `operator-keys/${made.key.id}/revoke?keep_made=no`),
    ];
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 400]);
    expect(await working(made)).toEqual(ALL);
  });
});

describe('what an operator by a claim of the issuer has made', () => {
  it.each([
    ['the claim of operators', ['chat']],
    ['also the claim that is required', []],
  ])('ends at the sign-in without %s', async (_, groups) => {
    const env = { OIDC_OPERATOR_CLAIM: 'groups=operators', OIDC_REQUIRED_CLAIM: 'groups=chat' };
    const stage = await signOnStage({ env });
    const person = { sub: 'ada', email: 'ada@example.com' };
    const browser = stage.browser();
    await signOn(stage, browser, { ...person, groups: ['chat', 'operators'] });
    const { id } = await stage.service.app.get(AccountsService, { strict: false }).get(person.email);
    const created = await browser.post(KEYS, { account_id: id, name: 'kept', scope: 'write' });
    const client = new OperatorClient(stage.service.origin, /csk_op_\w{49}/.exec(await created.body())?.[0] ?? '');
    expect((await client.get('accounts')).status).toBe(200);

    const again = stage.browser();
    await again.get(stage.issuer.authorize(await startSignOn(again), { ...person, groups }));
    expect((await client.get('accounts')).status).toBe(401);
    await stage.stop();
  });
});
