import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type RunningService } from '../../support/service.js';
import { SignInPagesModule } from '../../support/sign-in-pages.js';
import { get } from '../../support/sse-client.js';
import { COOKIE_NAME, WebClient } from '../../support/web-client.js';

const THIRTY_DAYS_SECONDS = 2_592_000;

describe('the session cookie', () => {
  let service: RunningService;
  let ada: WebClient;
  let key: string;

  beforeAll(async () => {
    service = await startService({ modules: [SignInPagesModule] });
    ada = new WebClient(service.origin);
    await ada.signUp();
    ({ key } = await service.createKey());
  });
  afterAll(() => service.stop());

  it('is set exactly as the contract has it, and is not cached', async () => {
    const answer = await new WebClient(service.origin).signIn();
    const [cookie = '', ...others] = answer.headers['set-cookie'] ?? [];
    const [pair = '', ...attributes] = cookie.split('; ');
    expect(others).toEqual([]);
    expect(pair).toMatch(/^__Host-session=[\w-]{43}$/);
    const age = Number(attributes.shift()?.slice('Max-Age='.length));
    expect(age).toBeGreaterThan(THIRTY_DAYS_SECONDS - 10);
    expect(age).toBeLessThanOrEqual(THIRTY_DAYS_SECONDS);
    expect(attributes.sort()).toEqual(['HttpOnly', 'Path=/', 'SameSite=Lax', 'Secure']);
    expect(answer.headers['cache-control']).toBe('no-store');
  });

  it.each([
    ['twice', (token: string) => `${COOKIE_NAME}=${token}; ${COOKIE_NAME}=${token}`],
    ['of another name', (token: string) => `session=${token}; x${COOKIE_NAME}=${token}`],
    ['of a longer name', (token: string) => `${COOKIE_NAME}2=${token}`],
    ['with its name in small letters', (token: string) => `${COOKIE_NAME.toLowerCase()}=${token}`],
    ['with a space before its name that browsers do not know', (token: string) => `\u00a0${COOKIE_NAME}=${token}`],
    ['that is too long', (token: string) => `${COOKIE_NAME}=${token}a`],
    ['that is empty', () => `${COOKIE_NAME}=`],
  ])('is none %s', async (_, cookieOf) => {
    const cookie = cookieOf(ada.token ?? '');
    expect((await get(service.origin, '/private', { cookie })).status).toBe(401);
  });

  it('is found among other cookies', async () => {
    const cookie = `theme=dark;${ada.cookie ?? ''} ; other=1`.replace(' ;', ';');
    expect((await get(service.origin, '/private', { cookie })).status).toBe(200);
  });

  it('does not matter to a request with an API key, good or not', async () => {
    const headers = { cookie: ada.cookie ?? '' };
    const answer = await get(service.origin, '/api/v1/me', { ...headers, authorization: `Bearer ${key}` });
    expect(JSON.parse(await answer.body())).toEqual({ kind: 'api_key' });
    expect((await get(service.origin, '/api/v1/me', { ...headers, authorization: 'Bearer nonsense' })).status).toBe(
      401,
    );
    const refused = await get(service.origin, '/private', { ...headers, authorization: `Bearer ${key}` });
    expect((await refused.error()).code).toBe('forbidden');
  });
});
