import { expect } from 'vitest';
import { AccountsService } from '../../src/accounts/accounts/accounts.service.js';
import { ApiKeysService } from '../../src/accounts/api-keys/api-keys.service.js';
import {
  LOGOUT,
  signOn,
  signOnStage,
  START,
  startSignOn,
  type SignOnStage,
} from '../support/single-sign-on/sign-on-stage.js';
import { get } from '../support/sse-client.js';
import { serving, shownIn, type Effects } from './effect.js';

const PERSON = { sub: 'ada', email: 'ada@example.com', groups: ['a', 'b'], tier: 'pro' };
const WHOLE = 'needs OIDC_CLIENT_ID, OIDC_CLIENT_SECRET and PUBLIC_URL';
const ADDRESS = 'must be https://…, or http://… with a host name of this machine';
const ON_OR_OFF = 'must be on or off';

async function withIssuer(
  env: Readonly<Record<string, string>>,
  use: (stage: SignOnStage) => Promise<void>,
): Promise<void> {
  const stage = await signOnStage({ tiers: { free: {}, pro: {} }, env: { NODE_ENV: 'production', ...env } });
  try {
    await use(stage);
  } finally {
    await stage.stop();
  }
}

const shownBy = shownIn<SignOnStage>(withIssuer);

/** Each of the variables has the same effect when it is missing: there is no single sign-on. */
const missing = () =>
  serving({}, async ({ origin }) => {
    expect((await get(origin, START)).status).toBe(404);
  });

const sentToIssuer = (name: string, expected: (stage: SignOnStage) => string) =>
  withIssuer({}, async (stage) => {
    const url = new URL(await startSignOn(stage.browser()));
    expect(url.searchParams.get(name) ?? url.origin).toBe(expected(stage));
  });

async function accountAfterSignOn(stage: SignOnStage) {
  const answer = await signOn(stage, stage.browser(), PERSON);
  const account = await stage.service.app.get(AccountsService, { strict: false }).findByEmail(PERSON.email);
  return { status: answer.status, tier: account?.tier, role: account?.role };
}

/** Whether a logout of the issuer has revoked the key. */
async function revokesKeys(stage: SignOnStage): Promise<boolean> {
  await signOn(stage, stage.browser(), PERSON);
  const { id, accountId } = await keyOf(stage);
  await stage.browser().post(LOGOUT, { logout_token: await stage.issuer.logoutToken({ sub: PERSON.sub }) });
  const key = await stage.service.app.get(ApiKeysService, { strict: false }).find(id, accountId);
  return key.revokedAt !== null;
}

async function keyOf({ service }: SignOnStage) {
  const { id } = await service.createKey({ email: PERSON.email });
  const { id: accountId } = await service.app.get(AccountsService, { strict: false }).get(PERSON.email);
  return { id, accountId };
}

/** Single sign-on. */
export const singleSignOn: Effects = {
  PUBLIC_URL: {
    set: () => sentToIssuer('redirect_uri', ({ origin }) => `${origin}${START}/callback`),
    unset: missing,
    refused: [
      ['chat.example.com', `PUBLIC_URL: ${ADDRESS}`],
      ['http://chat.example.com', `PUBLIC_URL: ${ADDRESS}`],
      [
        'https://chat.example.com/app',
        'PUBLIC_URL: must be an origin without a path, such as https://chat.example.com',
      ],
    ],
  },
  OIDC_ISSUER: {
    set: () => sentToIssuer('no such parameter', ({ issuer }) => issuer.url),
    unset: missing,
    refused: [
      ['https://login.example.com', `OIDC_ISSUER: ${WHOLE}`],
      ['http://login.example.com', `OIDC_ISSUER: ${ADDRESS}`],
      ['https://login.example.com/?a=b', `OIDC_ISSUER: ${ADDRESS}`],
      [
        'https://login.example.com/.well-known/openid-configuration',
        'OIDC_ISSUER: must be the issuer, without /.well-known/openid-configuration',
      ],
    ],
  },
  OIDC_CLIENT_ID: {
    set: () => sentToIssuer('client_id', () => 'chat'),
    unset: missing,
    refused: [],
  },
  OIDC_CLIENT_SECRET: {
    set: () =>
      withIssuer({ OIDC_CLIENT_SECRET: 'another' }, async (stage) => {
        // The issuer compares the secret.
        expect((await accountAfterSignOn(stage)).status).toBe(400);
      }),
    unset: missing,
    refused: [],
  },
  OIDC_SCOPES: {
    set: () =>
      withIssuer({ OIDC_SCOPES: 'openid groups' }, async (stage) => {
        expect(new URL(await startSignOn(stage.browser())).searchParams.get('scope')).toBe('openid groups');
      }),
    unset: () => sentToIssuer('scope', () => 'openid profile email'),
    refused: [
      ['profile email', 'OIDC_SCOPES: must contain openid'],
      ['openid,email', 'OIDC_SCOPES: must contain openid'],
      ['openid  email', 'OIDC_SCOPES: must be a list of scopes, separated by one space'],
    ],
  },
  OIDC_REQUIRED_CLAIM: {
    ...shownBy({ OIDC_REQUIRED_CLAIM: 'groups=c' }, accountAfterSignOn, {
      set: { status: 403 },
      unset: expect.objectContaining({ status: 303 }),
    }),
    refused: [['=c', 'OIDC_REQUIRED_CLAIM: must be the name of a claim, or claim=value']],
  },
  OIDC_TIER_CLAIM: {
    ...shownBy({ OIDC_TIER_CLAIM: 'tier' }, async (stage) => (await accountAfterSignOn(stage)).tier, {
      set: 'pro',
      unset: 'free',
    }),
    refused: [['tier=pro', 'OIDC_TIER_CLAIM: must be the name of a claim']],
  },
  OIDC_OPERATOR_CLAIM: {
    ...shownBy({ OIDC_OPERATOR_CLAIM: 'groups=b' }, async (stage) => (await accountAfterSignOn(stage)).role, {
      set: 'operator',
      unset: 'member',
    }),
    refused: [['a claim', 'OIDC_OPERATOR_CLAIM: must be the name of a claim, or claim=value']],
  },
  OIDC_LOGOUT_REVOKES_KEYS: {
    ...shownBy({ OIDC_LOGOUT_REVOKES_KEYS: 'on' }, revokesKeys, { set: true, unset: false }),
    refused: [['true', `OIDC_LOGOUT_REVOKES_KEYS: ${ON_OR_OFF}`]],
  },
  PASSWORDS: {
    set: () =>
      withIssuer({ PASSWORDS: 'off', SIGN_UP: 'open' }, async (stage) => {
        expect((await stage.browser().signUp()).status).toBe(404);
      }),
    unset: () =>
      withIssuer({ SIGN_UP: 'open' }, async (stage) => {
        expect((await stage.browser().signUp()).status).toBe(303);
      }),
    refused: [
      ['off', 'PASSWORDS: must be on without OIDC_ISSUER and the plugin single-sign-on, because nobody could sign in'],
      ['no', `PASSWORDS: ${ON_OR_OFF}`],
    ],
  },
};
