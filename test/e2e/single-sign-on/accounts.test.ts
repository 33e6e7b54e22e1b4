import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import { AccountStates } from '../../../src/accounts/accounts/account-states.js';
import { AccountPreparation, IdentitiesService } from '../../../src/accounts/identities/identities.service.js';
import {
  AS_BROWSER,
  signOn,
  signOnStage,
  startSignOn,
  type SignOnStage,
} from '../../support/single-sign-on/sign-on-stage.js';
import { PASSWORD } from '../../support/usual-password.js';
import type { WebClient } from '../../support/web-client.js';

const OTHER_PERSON = { issuer: 'https://other.example', subject: 'other' };
const LINK = '/settings/account/single-sign-on';
const TIERS = { free: {}, pro: {}, team: {} };

describe('the account of a person who signs in by single sign-on', () => {
  let stage: SignOnStage;

  beforeAll(async () => {
    stage = await signOnStage({ tiers: TIERS });
  });
  afterAll(() => stage.stop());

  const accounts = () => stage.service.app.get(AccountsService, { strict: false });
  const signedUp = async (email: string): Promise<WebClient> => {
    const browser = stage.browser();
    await browser.signUp(email);
    return browser;
  };
  const accountIdOf = async (email: string) => (await accounts().get(email)).id;
  const linkTo = async (browser: WebClient, claims: object) =>
    browser.get(stage.issuer.authorize(await startSignOn(browser, LINK), { ...claims }), AS_BROWSER);

  it('is never an account that somebody else may have made with the address', async () => {
    await signedUp('taken@example.com');
    for (const verified of [true, false, undefined]) {
      const browser = stage.browser();
      const answer = await signOn(stage, browser, {
        sub: 'taker',
        email: 'Taken@example.com',
        email_verified: verified,
      });
      expect(answer.status).toBe(403);
      expect((await answer.error()).message).toContain('not linked to single sign-on');
      expect(await browser.email()).toBeNull();
    }
  });

  it('is the account that its owner has linked on the account page', async () => {
    const browser = await signedUp('linker@example.com');
    expect(await (await browser.get('/settings/account')).body()).toContain(`href="${LINK}"`);
    const linked = await linkTo(browser, { sub: 'linker', email: 'linker@corp.example' });
    expect(linked.headers.location).toBe('/settings/account?done=linked');
    const page = await (await browser.get('/settings/account?done=linked')).body();
    expect(page).toContain('linker@corp.example');
    expect(page).toContain('Your account is linked');

    const other = stage.browser();
    await signOn(stage, other, { sub: 'linker' });
    expect(await other.email()).toBe('linker@example.com');

    const accountId = await accountIdOf('linker@example.com');
    const unlinked = await browser.post(`${LINK}/unlink`, { account_id: accountId });
    expect(unlinked.headers.location).toBe('/settings/account?done=unlinked');
    expect((await signOn(stage, stage.browser(), { sub: 'linker' })).status).toBe(403);
  });

  it('cannot be linked by a page of another site, or by a link in a mail', async () => {
    const browser = await signedUp('forced@example.com');
    for (const site of ['cross-site', 'same-site', 'none']) {
      expect((await browser.get(LINK, { 'sec-fetch-site': site })).status, site).toBe(403);
    }
    expect((await browser.get(LINK)).status).toBe(403);
    expect((await stage.browser().get(LINK, { 'sec-fetch-site': 'same-origin' })).status).toBe(401);
  });

  it('cannot be linked with the sign-in that another session has started', async () => {
    const [attacker, victim] = [await signedUp('attacker@example.com'), await signedUp('victim@example.com')];
    const back = stage.issuer.authorize(await startSignOn(attacker, LINK), { sub: 'attacker' });
    await victim.get(back);
    expect((await signOn(stage, stage.browser(), { sub: 'attacker' })).status).toBe(403);

    const signedOut = await startSignOn(attacker, LINK);
    const { cookie } = attacker;
    await attacker.post('/sign-out');
    attacker.cookie = cookie;
    expect((await attacker.get(stage.issuer.authorize(signedOut, { sub: 'attacker' }))).status).toBe(403);
  });

  it('is linked once: not to a second person, and a person not to a second account', async () => {
    const [one, two] = [await signedUp('one@example.com'), await signedUp('two@example.com')];
    await linkTo(one, { sub: 'first' });
    for (const [browser, sub, message] of [
      [one, 'second', 'linked to another person'],
      [two, 'first', 'Another account is linked'],
    ] as const) {
      const answer = await linkTo(browser, { sub });
      expect(answer.status).toBe(400);
      expect(await answer.body()).toContain(message);
    }
    expect((await linkTo(one, { sub: 'first' })).status).toBe(303);
  });

  it('keeps its only way to sign in: an account without a password cannot be unlinked', async () => {
    const browser = stage.browser();
    await signOn(stage, browser, { sub: 'only', email: 'only@example.com' });
    const page = await (await browser.get('/settings/account')).body();
    expect(page).not.toContain('Unlink');
    expect(page).not.toContain('current_password');
    await browser.post(`${LINK}/unlink`, { account_id: await accountIdOf('only@example.com') });
    await signOn(stage, stage.browser(), { sub: 'only' });
    const other = stage.browser();
    expect((await other.signIn('only@example.com', PASSWORD)).status).toBe(401);
  });

  it('is an account that the operator has prepared, only for a verified address', async () => {
    await signedUp('prepared@example.com');
    const signedIn = stage.browser();
    await signedIn.signIn('prepared@example.com');
    const { id } = await accounts().get('prepared@example.com');
    await stage.service.app.get(AccountPreparation, { strict: false }).prepare('prepared@example.com');
    expect(await signedIn.email()).toBeNull();
    expect((await stage.browser().signIn('prepared@example.com')).status).toBe(401);

    const person = { sub: 'prepared', email: 'prepared@example.com' };
    for (const claims of [
      person,
      { ...person, email_verified: false },
      { sub: 'prepared', preferred_username: person.email, email_verified: true },
    ]) {
      expect((await signOn(stage, stage.browser(), claims)).status).toBe(403);
    }
    const browser = stage.browser();
    await signOn(stage, browser, { ...person, email_verified: true });
    expect(await browser.email()).toBe('prepared@example.com');
    expect((await accounts().get('prepared@example.com')).id).toBe(id);
    // It is taken now.
    const late = { sub: 'late', email: person.email, email_verified: true };
    expect((await signOn(stage, stage.browser(), late)).status).toBe(403);
    const identities = stage.service.app.get(IdentitiesService, { strict: false });
    expect(await identities.linkPrepared({ ...OTHER_PERSON, email: person.email }, id)).toBe(false);
  });

  it('is not an account that is disabled, also when it is prepared', async () => {
    await signedUp('disabled@example.com');
    const { id } = await accounts().get('disabled@example.com');
    await stage.service.app.get(AccountPreparation, { strict: false }).prepare('disabled@example.com');
    await stage.service.app.get(AccountStates, { strict: false }).disable('disabled@example.com');
    const identities = stage.service.app.get(IdentitiesService, { strict: false });
    expect(await identities.linkPrepared({ ...OTHER_PERSON, email: undefined }, id)).toBe(false);
  });

  it('is not made or linked with an address that another document calls verified', async () => {
    await signedUp('mixed@example.com');
    await stage.service.app.get(AccountPreparation, { strict: false }).prepare('mixed@example.com');
    const email = 'mixed@example.com';
    const outcomes: number[] = [];
    for (const [idToken, userInfo] of [
      // Only the endpoint has the address, and only the ID token calls an address verified.
      [{ email_verified: true }, { email }],
      [{ email: 'own@example.com', email_verified: true }, { email }],
      [{ email }, { email_verified: true }],
      [
        { email, email_verified: false },
        { email, email_verified: true },
      ],
    ] as const) {
      stage.issuer.userInfo = userInfo;
      outcomes.push((await signOn(stage, stage.browser(), { sub: `mixer-${outcomes.length}`, ...idToken })).status);
    }
    expect(outcomes).toEqual([403, 303, 403, 403]);
    expect(await accounts().findByEmail('own@example.com')).toBeDefined();
    // Both members of the endpoint count together.
    stage.issuer.userInfo = { email, email_verified: true };
    const browser = stage.browser();
    await signOn(stage, browser, { sub: 'owner', email });
    expect(await browser.email()).toBe(email);
    stage.issuer.userInfo = {};
  });

  it('is not made for an address that the issuer calls unverified', async () => {
    const answer = await signOn(stage, stage.browser(), { sub: 'u', email: 'u@example.com', email_verified: false });
    expect(answer.status).toBe(403);
    expect((await answer.error()).message).toContain('not verified');
    expect(await accounts().findByEmail('u@example.com')).toBeUndefined();
  });
});

describe('the claims of a sign-in', () => {
  let stage: SignOnStage;

  beforeAll(async () => {
    stage = await signOnStage({
      tiers: TIERS,
      env: {
        OIDC_TIER_CLAIM: 'realm.tiers',
        OIDC_OPERATOR_CLAIM: 'groups=chat-operators',
        OIDC_REQUIRED_CLAIM: 'groups=chat',
        OIDC_SCOPES: 'openid email groups',
        SIGN_UP: 'closed',
      },
    });
  });
  afterAll(() => stage.stop());
  afterEach(() => {
    stage.issuer.userInfo = {};
  });

  const person = (sub: string, tiers: unknown, ...groups: string[]) => ({
    sub,
    email: `${sub}@example.com`,
    realm: { tiers },
    groups: ['chat', ...groups],
  });
  const signedIn = async (claims: ReturnType<typeof person>) => {
    const browser = stage.browser();
    await signOn(stage, browser, claims);
    const account = await stage.service.app.get(AccountsService, { strict: false }).get(`${claims.sub}@example.com`);
    const { tier } = JSON.parse(await (await browser.get('/me')).body()) as { tier: string | null };
    return { tier, stored: account.tier, role: account.role, page: (await browser.get('/operator/accounts')).status };
  };

  it('decide the tier at each sign-in, with the default tier for an unknown one', async () => {
    for (const [tiers, tier] of [
      ['pro', 'pro'],
      [['something else', 'team'], 'team'],
      ['platinum', 'free'],
      ['pro', 'pro'],
      [undefined, 'free'],
    ] as const) {
      expect(await signedIn(person('tiered', tiers)), String(tiers)).toMatchObject({ tier, stored: tier });
    }
  });

  it('make an account an operator, and take the role away when the claim is gone', async () => {
    expect(await signedIn(person('boss', 'pro', 'chat-operators'))).toMatchObject({ role: 'operator', page: 200 });
    expect(await signedIn(person('boss', 'pro', 'chat-operators-2'))).toMatchObject({ role: 'member', page: 404 });
    expect(await signedIn(person('boss', 'pro', 'chat-operators'))).toMatchObject({ role: 'operator', page: 200 });
  });

  it('leave accounts alone that are not linked', async () => {
    const { AccountRoles } = await import('../../../src/accounts/accounts/account-roles.js');
    const accounts = stage.service.app.get(AccountsService, { strict: false });
    const { id } = await accounts.create({ email: 'local@example.com', password: PASSWORD, tier: 'team' });
    await stage.service.app.get(AccountRoles, { strict: false }).set({ id }, 'operator');
    const browser = stage.browser();
    await browser.signIn('local@example.com');
    expect(await accounts.get({ id })).toMatchObject({ tier: 'team', role: 'operator' });
  });

  it('keep out who does not have the required one, before an account is made', async () => {
    for (const groups of [undefined, [], 'chatter', ['Chat'], { chat: true }]) {
      const answer = await signOn(stage, stage.browser(), { sub: 'out', email: 'out@example.com', groups });
      expect(answer.status).toBe(403);
    }
    expect(
      await stage.service.app.get(AccountsService, { strict: false }).findByEmail('out@example.com'),
    ).toBeUndefined();
  });

  it('are asked for by the configured scopes', async () => {
    expect(new URL(await startSignOn(stage.browser())).searchParams.get('scope')).toBe('openid email groups');
  });
});
