import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AccountsService } from '../../src/accounts/accounts/accounts.service.js';
import { ApiKeysService } from '../../src/accounts/api-keys/api-keys.service.js';
import { KNOWN_WITHIN_MS } from '../support/known-within.js';
import { ScriptedIssuer } from '../support/single-sign-on/scripted-issuer.js';
import { ADA, LOGOUT, startSignOn } from '../support/single-sign-on/sign-on-stage.js';
import { openStream } from '../support/sse-client.js';
import { lastBefore } from '../support/wait-for.js';
import { WebClient } from '../support/web-client.js';
import { Replicas } from './support/replicas.js';
import { sharedStores } from './support/stores.js';

const stores = await sharedStores();
const PUBLIC_URL = 'http://localhost:4405';

describe.skipIf(stores === undefined)('single sign-on on replicas', () => {
  let replicas: Replicas;
  let issuer: ScriptedIssuer;

  beforeAll(async () => {
    issuer = await ScriptedIssuer.start();
    const env = { ...issuer.env(PUBLIC_URL), OIDC_LOGOUT_REVOKES_KEYS: 'on' };
    replicas = await Replicas.start(stores as NonNullable<typeof stores>, { env, count: 2 });
    replicas.provider.answers((call) => {
      call.answer('Hi');
    });
  }, 180_000);
  afterAll(async () => {
    await replicas.stop();
    await issuer.stop();
    await stores?.redis.drop();
  }, 60_000);

  const on = (place: number, cookie?: string): WebClient => {
    const browser = new WebClient(replicas.origins[place] ?? '');
    browser.cookie = cookie;
    return browser;
  };
  /** Starts a sign-in on one replica, and finishes it on the other. */
  const signedIn = async (sid: string): Promise<string> => {
    const started = on(0);
    const back = issuer.authorize(await startSignOn(started), { ...ADA, sid });
    const finished = on(1, started.cookie);
    const answer = await finished.get(back);
    expect(answer.status).toBe(303);
    return finished.cookie ?? '';
  };
  const isSignedIn = async (place: number, cookie: string) => (await on(place, cookie).get('/usage')).status === 200;
  const tell = async (place: number, claims: object) =>
    (await on(place).post(LOGOUT, { logout_token: await issuer.logoutToken({ ...claims }) })).status;

  it('begins on one replica and finishes on another', async () => {
    const cookie = await signedIn('s0');
    expect([await isSignedIn(0, cookie), await isSignedIn(1, cookie)]).toEqual([true, true]);
  });

  it('ends on all replicas within a second after the issuer has notified one replica, with the keys', async () => {
    const [cookie, other] = [await signedIn('s1'), await signedIn('s2')];
    const { id } = await replicas.accounts.get(AccountsService).get(ADA.email);
    const { key } = await replicas.accounts.get(ApiKeysService).create(id, { name: 'laptop' });
    const isAccepted = async (place: number): Promise<boolean> => {
      const answer = await openStream(replicas.origins[place] ?? '', { key });
      answer.leave();
      return answer.status !== 401;
    };
    expect(await Promise.all([isSignedIn(0, cookie), isSignedIn(1, cookie), isAccepted(0), isAccepted(1)])).toEqual(
      Array.from({ length: 4 }, () => true),
    );

    expect(await tell(0, { sid: 's1', sub: ADA.sub })).toBe(200);
    const notifiedAt = performance.now();
    const last = await Promise.all([
      lastBefore(async () => !(await isSignedIn(0, cookie)), 'the end on the first replica'),
      lastBefore(async () => !(await isSignedIn(1, cookie)), 'the end on the second replica'),
      lastBefore(async () => !(await isAccepted(1)), 'the refused key'),
    ]);
    expect(Math.max(...last) - notifiedAt).toBeLessThan(KNOWN_WITHIN_MS);
    expect(await isSignedIn(1, other)).toBe(true);
  });

  it('has an effect once on all replicas together', async () => {
    const token = await issuer.logoutToken({ sub: ADA.sub });
    const told = await Promise.all([0, 1, 0, 1].map((place) => on(place).post(LOGOUT, { logout_token: token })));
    expect(told.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
  });
});
