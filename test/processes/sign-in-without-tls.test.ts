import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Installation } from '../support/process.js';
import { configFile, routesTo } from '../support/catalog.js';
import { stream } from '../support/sse-client.js';
import { waitFor } from '../support/wait-for.js';

const HTML = { accept: 'text/html,*/*;q=0.8' };
const FORM = { ...HTML, 'content-type': 'application/x-www-form-urlencoded' };

describe('sign-in without TLS', () => {
  let installation: Installation;
  let origin: string;
  let log: () => string;

  beforeAll(async () => {
    installation = await Installation.create(configFile(routesTo(['http://127.0.0.1:9'])));
    const service = installation.start({ NODE_ENV: 'production', SIGN_UP: 'open', HOST: '0.0.0.0', TRUST_PROXY: '1' });
    origin = await service.origin();
    log = () => service.stdout;
  }, 60_000);
  afterAll(() => installation.remove());

  const open = (path: string, headers: Readonly<Record<string, string>>) =>
    stream(origin, { method: 'GET', path, headers: { ...HTML, ...headers } });

  it('is reported at the start, with the address on which the service really listens', async () => {
    expect(origin).toMatch(/^http:\/\/0\.0\.0\.0:\d+$/);
    await waitFor(() => log().includes('account create --email'), 'the command for the first account');
    expect(log()).toContain('only over HTTPS');
  });

  it.each(['/sign-in', '/sign-up'])('%s shows no password field at an address that is not local', async (path) => {
    const answer = await open(path, { host: 'chat.lan:3000' });
    expect(answer.status).toBe(403);
    const page = await answer.body();
    expect(page).toContain('HTTPS is required');
    expect(page).toContain('http://localhost:3000/sign-in');
    expect(page).not.toContain('type="password"');
  });

  it('accepts no password there, and logs the reason once', async () => {
    for (let times = 0; times < 2; times++) {
      const body = 'email=ada%40example.com&password=seven+green+parrots';
      const headers = { ...FORM, host: 'chat.lan', origin: 'http://chat.lan' };
      const answer = await stream(origin, { path: '/sign-up', body, headers });
      expect(answer.status).toBe(403);
      expect(answer.headers['set-cookie']).toBeUndefined();
    }
    await waitFor(() => log().includes('without HTTPS'), 'the warning');
    expect(log().split('without HTTPS')).toHaveLength(2);
  });

  it.each([
    ['localhost', { host: 'localhost:3000' }],
    ['a name below localhost', { host: 'chat.localhost' }],
    ['127.0.0.1', { host: '127.0.0.1:3000' }],
    ['::1', { host: '[::1]:3000' }],
    ['a proxy with TLS that says so', { host: 'chat.lan', 'x-forwarded-proto': 'https' }],
    ['a proxy with TLS that does not say so', { host: 'chat.lan', 'sec-fetch-site': 'none' }],
  ])('is possible by %s', async (_, headers) => {
    const answer = await open('/sign-in', headers);
    expect(answer.status).toBe(200);
    expect(await answer.body()).toContain('type="password"');
  });

  it.each([
    ['localhost.evil.example', { host: 'localhost.evil.example' }],
    ['a number that only begins like an address of this machine', { host: '127.0.0.1.evil.example' }],
  ])('is not possible by %s', async (_, headers) => {
    expect((await open('/sign-in', headers)).status).toBe(403);
  });
});
