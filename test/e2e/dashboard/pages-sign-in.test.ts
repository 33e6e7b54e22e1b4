import { MODEL } from '../../support/catalog.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SessionsService } from '../../../src/accounts/sessions/sessions.service.js';
import { browserClient, fieldIn } from '../../support/browser-client.js';
import { startService, type RunningService } from '../../support/service.js';
import { EMAIL, WebClient } from '../../support/web-client.js';
import { PASSWORD } from '../../support/usual-password.js';

const ACCOUNT = '/settings/account';

describe('the pages to sign in, up and out', () => {
  let service: RunningService;

  beforeAll(async () => {
    service = await startService({ tiers: { free: { requests_per_minute: 20, max_tokens: 4096 } } });
    expect((await browserClient(service.origin).signUp()).status).toBe(303);
  });
  afterAll(() => service.stop());

  const visitor = () => browserClient(service.origin);
  const signedIn = async () => {
    const client = visitor();
    expect((await client.signIn()).status).toBe(303);
    return client;
  };

  it('lead from the front page to sign in, and from there to the playground', async () => {
    const client = visitor();
    const front = await client.get('/');
    expect(front.status).toBe(200);
    const text = await front.body();
    for (const part of ['href="/sign-in"', 'href="/sign-up"', 'href="/api/docs"', MODEL]) expect(text).toContain(part);
    const answer = await client.signIn();
    expect([answer.status, answer.headers.location]).toEqual([303, '/playground']);
    expect(await (await client.get('/')).body()).toContain('Get started');
    expect((await client.get('/sign-in')).headers.location).toBe('/playground');
    expect((await client.get('/sign-up?next=/usage')).headers.location).toBe('/usage');
  });

  it('lead back to the requested page', async () => {
    const client = visitor();
    const refused = await client.get('/settings/api-keys?page=2');
    expect([refused.status, refused.headers.location]).toEqual([
      303,
      '/sign-in?next=%2Fsettings%2Fapi-keys%3Fpage%3D2',
    ]);
    const html = await (await client.get(refused.headers.location ?? '')).body();
    expect(fieldIn(html, 'next')).toBe('/settings/api-keys?page=2');
    expect(html).toContain('href="/sign-up?next=%2Fsettings%2Fapi-keys%3Fpage%3D2"');
    const answer = await client.post('/sign-in', { email: EMAIL, password: PASSWORD, next: fieldIn(html, 'next') });
    expect(answer.headers.location).toBe('/settings/api-keys?page=2');
  });

  it.each([
    'https://evil.example/',
    '//evil.example',
    '/\\evil.example',
    '/.//evil.example',
    '/\t/evil.example',
    'javascript:alert(1)',
    '/ok\r\nSet-Cookie: a=b',
    'settings',
    '',
  ])('never lead to %j', async (next) => {
    const answer = await visitor().post('/sign-in', { email: EMAIL, password: PASSWORD, next });
    expect([answer.status, answer.headers.location]).toEqual([303, '/playground']);
    const page = await visitor().get(`/sign-in?${new URLSearchParams({ next }).toString()}`);
    expect(fieldIn(await page.body(), 'next')).toBe('');
  });

  it('report an invalid password, and keep the address but not the password', async () => {
    const answer = await visitor().signIn('"><script>alert(1)</script>@example.com', 'wrong pass phrase');
    expect([answer.status, answer.headers['cache-control']]).toEqual([401, 'no-store']);
    const html = await answer.body();
    expect(html).toMatch(/<div class="notice bad" role="alert">The email or the password is incorrect\./);
    expect(html).toContain('value="&quot;>&lt;script>alert(1)&lt;/script>@example.com"');
    expect(html).not.toContain('<script>');
    expect(html).not.toContain('wrong pass phrase');
    expect(html).toContain('<title>Error: Sign in');
  });

  it('send programs the same as JSON', async () => {
    const answer = await new WebClient(service.origin).signIn(EMAIL, 'wrong');
    expect((await answer.error()).code).toBe('unauthenticated');
  });

  it('say of each field what is wrong about it', async () => {
    const answer = await visitor().signUp('nobody', 'password');
    expect(answer.status).toBe(400);
    const html = await answer.body();
    for (const field of ['email', 'password']) {
      const input = new RegExp(`<input id="${field}"[^>]*>`).exec(html)?.[0] ?? '';
      expect(input).toContain('aria-invalid="true"');
      const described = /aria-describedby="([\w-]+)/.exec(input)?.[1] ?? '';
      expect(html).toMatch(new RegExp(`id="${described}">[^<]{10,}<`));
    }
    expect(fieldIn(html, 'email')).toBe('nobody');
  });

  it('say when to try again after too many attempts', async () => {
    const client = visitor();
    for (let attempt = 0; attempt < 10; attempt++) {
      expect((await client.signIn('target@example.com', 'a wrong guess')).status).toBe(401);
    }
    const answer = await client.signIn('target@example.com', 'a wrong guess');
    expect(answer.status).toBe(429);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(60);
    expect(await answer.body()).toContain('Too many attempts. Try again in 15 minutes.');
  });

  it('take no form from another origin, and say so in a page', async () => {
    const client = await signedIn();
    const answer = await client.post('/sign-out', {}, { origin: 'https://evil.example' });
    expect(answer.status).toBe(403);
    expect(await answer.body()).toContain('<h1>Not allowed</h1>');
    expect((await client.get('/settings/account')).status).toBe(200);
  });

  it('end the session on the server', async () => {
    const client = await signedIn();
    const stolen = visitor();
    stolen.cookie = client.cookie;
    const answer = await client.post('/sign-out');
    expect([answer.status, answer.headers.location, client.cookie]).toEqual([303, '/sign-in', undefined]);
    expect(answer.headers['clear-site-data']).toBe('"storage"');
    expect((await stolen.get('/settings/account')).status).toBe(303);
  });

  it('lead a form whose session has ended back to its page', async () => {
    const client = await signedIn();
    const verified = await service.app.get(SessionsService, { strict: false }).verify(client.token ?? '');
    await service.app.get(SessionsService, { strict: false }).end(verified?.sessionId ?? '');
    const created = await client.post('/settings/api-keys', { name: 'late' });
    expect([created.status, created.headers.location]).toEqual([303, '/sign-in?next=%2Fsettings%2Fapi-keys']);
    const changed = await client.post('/settings/account/password', {});
    expect([changed.status, changed.headers.location]).toEqual([303, '/sign-in']);
  });

  it('refuse a body that is no form', async () => {
    const answer = await visitor().post('/sign-in', {}, { 'content-type': 'application/json' });
    expect(answer.status).toBe(415);
    expect(await answer.body()).toContain('<main');
  });

  describe('and the page of an account', () => {
    it('shows the address, the tier and its limits, on every page the way out', async () => {
      const html = await (await (await signedIn()).get(ACCOUNT)).body();
      expect(html).toMatch(/<dt>Email<\/dt><dd>ada@example\.com<\/dd><dt>Tier<\/dt><dd>free<\/dd>/);
      expect(html).toMatch(/Requests per minute<\/dt><dd>20<\/dd>.*<dd>No limit<\/dd>.*<dd>4,096<\/dd>/);
      expect(html).toMatch(/<header.*ada@example\.com.*free.*<form method="post" action="\/sign-out">.*<\/header>/s);
    });

    it.each([
      [{ current_password: 'a wrong guess', new_password: 'quite another one' }, 'The current password is incorrect.'],
      [{ current_password: PASSWORD, new_password: 'short' }, 'must have 8 to 1024 characters.'],
      [{}, 'must have 8 to 1024 characters.'],
    ])('does not change the password by %j', async (fields, message) => {
      const client = await signedIn();
      const answer = await client.postForm(`${ACCOUNT}/password`, fields);
      expect([answer.status, (await answer.body()).includes(message)]).toEqual([400, true]);
      expect((await client.get(ACCOUNT)).status).toBe(200);
      await signedIn();
    });

    it.each(['x', '-1', '99999', '<b>', '1&revoked=2'])('reports no number of revoked keys for %s', async (odd) => {
      const page = await (await signedIn()).get(`${ACCOUNT}?done=password&revoked=${odd}`);
      expect([page.status, (await page.body()).includes('revoked.')]).toEqual([200, false]);
    });
  });
});

describe.each<Record<string, string>>([{ SIGN_UP: 'closed' }, { NODE_ENV: 'production' }])(
  'where sign-up is closed by %o',
  (env) => {
    let service: RunningService;

    beforeAll(async () => {
      service = await startService({ env });
    });
    afterAll(() => service.stop());

    it('pages name the contact, and have no link to the sign-up', async () => {
      const client = browserClient(service.origin);
      const signIn = await (await client.get('/sign-in')).body();
      expect(signIn).not.toContain('/sign-up');
      expect(signIn).toContain('operator');
      for (const answer of [await client.get('/sign-up'), await client.signUp()]) {
        const html = await answer.body();
        expect(answer.status === 403 && html.includes('operator') && !html.includes('name="password"')).toBe(true);
      }
      expect(client.cookie).toBeUndefined();
    });
  },
);

it('sign-up is open in production where the operator opens it', async () => {
  const service = await startService({ env: { NODE_ENV: 'production', SIGN_UP: 'open' } });
  const client = browserClient(service.origin);
  expect((await client.signUp()).status).toBe(303);
  expect(client.cookie).toBeDefined();
  await service.stop();
});
