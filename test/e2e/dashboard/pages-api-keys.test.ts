import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import { ApiKeysService } from '../../../src/accounts/api-keys/api-keys.service.js';
import { KeyCreationLimit } from '../../../src/auth/attempts/attempt-counters.js';
import { browserClient, fieldIn } from '../../support/browser-client.js';
import { answering } from '../../support/scripts.js';
import { stream } from '../../support/sse-client.js';
import { setStage, type Stage } from '../../support/stage.js';
import { waitFor } from '../../support/wait-for.js';
import { EMAIL, type WebClient } from '../../support/web-client.js';
import { PASSWORD } from '../../support/usual-password.js';

const PATH = '/settings/api-keys';
const KEY = /csk_[0-9A-Za-z]{49}/;
const DAY_MS = 86_400_000;

describe('Settings > API keys', () => {
  let stage: Stage;
  let ada: WebClient;
  let keys: ApiKeysService;

  beforeAll(async () => {
    stage = await setStage();
    stage.provider.answers(answering('Hi'));
    keys = stage.service.app.get(ApiKeysService, { strict: false });
    ada = browserClient(stage.origin);
    await ada.signUp();
  });
  afterAll(() => stage.clear());

  const statusWith = async (key: string) => {
    const answer = await stream(stage.origin, { key });
    await answer.over;
    return answer.status;
  };
  const idOf = async (email: string) =>
    (await stage.service.app.get(AccountsService, { strict: false }).findByEmail(email))?.id ?? '';
  /** Creates a key on the page. */
  const create = async (fields: Record<string, string>) => {
    const answer = await ada.postForm(PATH, fields);
    const html = await answer.body();
    const key = KEY.exec(html)?.[0] ?? '';
    const listed = (await keys.list(await idOf(EMAIL))).find(({ prefix }) => key !== '' && key.startsWith(prefix));
    return { answer, html, key, id: listed?.id ?? '', listed };
  };

  it('shows a key once, in a response that is not cached, with a command that uses it', async () => {
    const { answer, html, key, listed } = await create({ name: 'laptop' });
    expect([answer.status, answer.headers['cache-control']]).toEqual([201, 'no-store']);
    expect(html).toContain(`curl -N ${stage.origin}/api/v1/chat/stream`);
    expect(html).toContain(`Authorization: Bearer ${key}`);
    for (const sdk of ['openai', '@anthropic-ai/sdk', 'ai @ai-sdk/openai-compatible'])
      expect(html).toContain(`npm install ${sdk}`);
    expect(await statusWith(key)).toBe(200);
    expect(listed).toMatchObject({ name: 'laptop', expiresAt: null });

    const later = await (await ada.get(PATH)).body();
    expect(later).not.toMatch(KEY);
    expect(later).toMatch(new RegExp(`<th[^>]*>laptop</th>.*<code>${key.slice(0, 12)}…</code>.*Active`, 's'));
  });

  it('makes one key of a form that is sent twice', async () => {
    const form = { name: 'twice', id: fieldIn(await (await ada.get(PATH)).body(), 'id') };
    expect((await create(form)).answer.status).toBe(201);
    const again = await create(form);
    expect(again.answer.status).toBe(400);
    expect(again.html).toContain('already created');
    expect(again.html).not.toMatch(KEY);
    expect((await keys.list(await idOf(EMAIL))).filter(({ name }) => name === 'twice')).toHaveLength(1);
  });

  it('creates a key with an expiry date', async () => {
    const before = Date.now();
    const { listed } = await create({ name: 'for a week', expires_in_days: '7' });
    const expiresAt = listed?.expiresAt?.getTime() ?? 0;
    expect(expiresAt).toBeGreaterThanOrEqual(before + 7 * DAY_MS);
    expect(expiresAt).toBeLessThanOrEqual(Date.now() + 7 * DAY_MS);
  });

  it.each([
    [{ name: '  ' }, 'The name must have 1 to 100 characters.'],
    [{ name: 'x'.repeat(101) }, 'The name must have 1 to 100 characters.'],
    [{ name: 'two\nlines' }, 'The name must be one line of text,'],
    [{ name: 'del\u007f' }, 'The name must be one line of text,'],
    [{ name: 'nul\0' }, 'The name must be one line of text,'],
    [{ name: 'two\u2028lines' }, 'The name must be one line of text,'],
    [{ name: 'lap\u202etop' }, 'without characters that change its direction.'],
    [{ name: 'lap\u2066top' }, 'without characters that change its direction.'],
    [{ name: 'lap\u200ftop' }, 'without characters that change its direction.'],
    [{ name: 'lap\u061ctop' }, 'without characters that change its direction.'],
    [{ name: 'x', expires_in_days: '-1' }, 'Choose one of the listed options.'],
    [{ name: 'x', expires_in_days: 'toString' }, 'Choose one of the listed options.'],
    [{ name: 'x', id: 'not-a-uuid' }, 'The id must be a UUID.'],
  ])('does not take %j', async (fields, message) => {
    const { answer, html } = await create(fields);
    expect(answer.status).toBe(400);
    expect(html).toContain(message);
    expect(html).not.toMatch(KEY);
  });

  it('shows a name as the text that it is, wherever it stands', async () => {
    const name = `</title><script>alert("1")</script>&amp;'`;
    const { id, html } = await create({ name });
    const pages = [
      html,
      ...(await Promise.all(
        [PATH, `${PATH}/${id}/revoke`, `${PATH}/${id}/rotate`, `${PATH}/${id}/edit`].map((path) =>
          ada.get(path).then((answer) => answer.body()),
        ),
      )),
    ];
    for (const page of pages) {
      expect(page).toContain('&lt;script>alert(');
      expect(page).not.toContain('<script>');
      expect(page.match(/<\/title>/g)).toHaveLength(1);
    }
  });

  it('changes the name and the limits of a key, and removes limits that are empty', async () => {
    const { id } = await create({ name: 'before' });
    const save = (fields: Record<string, string>) => ada.postForm(`${PATH}/${id}/edit`, { name: 'after', ...fields });
    const limits = { requests_per_minute: '5', tokens_per_day: '1000', models: 'acme/*, other/one' };
    const answer = await save({ ...limits, budget: '2.50', budget_per: 'day', addresses: '10.0.0.0/8 ::1' });
    expect([answer.status, answer.headers['location']]).toEqual([303, `${PATH}?done=changed`]);
    expect(await keys.find(id, await idOf(EMAIL))).toMatchObject({
      ...{ name: 'after', requestsPerMinute: 5, tokensPerDay: 1000, models: ['acme/*', 'other/one'] },
      ...{ budgetMicros: 2_500_000, budgetPer: 'day', addresses: ['10.0.0.0/8', '::1'] },
    });
    const page = await (await ada.get(`${PATH}/${id}/edit`)).body();
    for (const value of ['after', 'acme/*, other/one', '2.5', '10.0.0.0/8, ::1']) {
      expect(page).toContain(`value="${value}"`);
    }
    await save({});
    expect(await keys.find(id, await idOf(EMAIL))).toMatchObject({
      ...{ name: 'after', requestsPerMinute: null, tokensPerDay: null, models: null },
      ...{ budgetMicros: null, budgetPer: null, addresses: null },
    });
  });

  it.each([
    [{ name: ' ' }, '1 to 100 characters'],
    [{ requests_per_minute: 'many' }, 'must be a number, or empty'],
    [{ tokens_per_day: '0' }, 'must be a whole number from 1'],
    [{ models: 'nothing' }, 'must be a model id'],
    [{ addresses: 'here' }, 'must be an IP address'],
  ])('shows what is wrong with a change of a key: %j', async (fields, message) => {
    const { id } = await create({ name: 'kept' });
    const answer = await ada.postForm(`${PATH}/${id}/edit`, { name: 'other', ...fields });
    expect(answer.status).toBe(400);
    expect(await answer.body()).toContain(message);
    expect(await keys.find(id, await idOf(EMAIL))).toMatchObject({ name: 'kept', requestsPerMinute: null });
  });

  it.each(['revoke', 'rotate'])('knows no key of another account to %s, nor one that is none', async (action) => {
    const { id, key } = await stage.service.createKey({ email: 'other@example.com' });
    // Without the time of the last use, which is written later than the key is used.
    const ends = async () =>
      (await keys.list(await idOf('other@example.com'))).map((one) => [one.id, one.revokedAt, one.expiresAt]);
    const before = await ends();
    for (const unknown of [id, '00000000-0000-4000-8000-000000000000', 'nonsense', '%00', "'%20OR%201=1"]) {
      const answers = [
        await ada.get(`${PATH}/${unknown}/${action}`),
        await ada.postForm(`${PATH}/${unknown}/${action}`),
      ];
      expect(answers.map(({ status }) => status)).toEqual([404, 404]);
    }
    expect(await ends()).toEqual(before);
    expect(await statusWith(key)).toBe(200);
    expect(await (await ada.get(PATH)).body()).not.toContain(key.slice(0, 12));
  });

  it('makes a hundred keys of an account in an hour, revoked ones included', async () => {
    const mallory = browserClient(stage.origin);
    await mallory.signUp('mallory@example.com', PASSWORD);
    const account = await idOf('mallory@example.com');
    const limit = stage.service.app.get(KeyCreationLimit, { strict: false });
    for (let index = 0; index < 98; index++) {
      await keys.revoke((await limit.count(account, () => keys.create(account, { name: 'x' }))).id);
    }
    for (let index = 0; index < 2; index++) {
      expect((await mallory.postForm(PATH, { name: 'x' })).status).toBe(201);
      const [newest] = await keys.page(account, 0, 1);
      await keys.revoke(newest?.id ?? '');
    }
    const answer = await mallory.postForm(PATH, { name: 'one more' });
    expect(answer.status).toBe(429);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect(await answer.body()).toContain('This account created too many API keys.');
    // What is refused for another reason does not count, so the limit stays as it is.
    expect(await keys.count(account)).toBe(100);

    const { id } = await keys.create(account, { name: 'made by the operator' });
    expect((await mallory.postForm(`${PATH}/${id}/rotate`, {})).status).toBe(429);
    expect(await keys.count(account)).toBe(101);
    expect((await keys.find(id, account)).expiresAt).toBeNull();
  });

  it('is for who has signed in, not for keys', async () => {
    const program = { authorization: `Bearer ${stage.key}` };
    const stranger = browserClient(stage.origin);
    expect((await stranger.get(PATH, program)).status).toBe(403);
    expect((await stranger.post(PATH, { name: 'x' }, program)).status).toBe(403);
    expect((await stranger.post(PATH, { name: 'x' })).status).toBe(303);
  });

  it('finds keys by name, beginning and state, active keys first, with their spend', async () => {
    const eve = browserClient(stage.origin);
    await eve.signUp('finder@example.com', PASSWORD);
    const account = await idOf('finder@example.com');
    const laptop = await keys.create(account, { name: 'Laptop' });
    await keys.create(account, { name: 'server' });
    const revoked = await keys.create(account, { name: 'Lost laptop' });
    await keys.revoke(revoked.id);
    const names = async (query: string) =>
      [...(await (await eve.get(PATH + query)).body()).matchAll(/<th scope="row"[^>]*>([^<]+)<\/th>/g)].map(
        ([, name]) => name,
      );
    expect((await names('')).at(-1)).toBe('Lost laptop');
    expect(await names('?search=LAPTOP')).toEqual(['Laptop', 'Lost laptop']);
    expect(await names(`?search=${laptop.key}`)).toEqual(['Laptop']);
    expect(await names('?state=revoked')).toEqual(['Lost laptop']);
    expect(await names('?state=active&search=laptop')).toEqual(['Laptop']);
    expect(await names('?search=nothing')).toEqual([]);
    expect(await (await eve.get(`${PATH}?search=%3Cb%3E&state=x`)).body()).toContain('value="&lt;b');

    await stream(stage.origin, { key: laptop.key });
    await waitFor(async () => (await (await eve.get(PATH)).body()).includes('>1 request</a>'), 'the spend of the key');
  });

  it('shows many keys in pages', async () => {
    const bob = browserClient(stage.origin);
    await bob.signUp('bob@example.com', PASSWORD);
    const account = await idOf('bob@example.com');
    for (let index = 0; index < 101; index++) {
      const { id } = await keys.create(account, { name: `key number ${index}` });
      // At most a hundred are active at the same time.
      if (index === 0) await keys.revoke(id);
    }
    const rows = async (query: string) =>
      (await (await bob.get(PATH + query)).body())
        .match(/key number \d+<\/th>/g)
        ?.map((row) => parseInt(row.slice(11)));
    const all = [await rows(''), await rows('?page=2'), await rows('?page=3')];
    expect(all.map((shown) => shown?.length)).toEqual([50, 50, 1]);
    expect(new Set(all.flat()).size).toBe(101);
    expect(await rows('?page=99')).toEqual(all[2]);
    for (const odd of ['?page=0', '?page=-1', '?page=x', '?page=1&page=2', '?page=99999999999']) {
      expect((await rows(odd))?.length).toBe(50);
    }
    expect(await (await bob.get(`${PATH}?page=2`)).body()).toMatch(
      /rel="prev" href="\/settings\/api-keys\?page=1".*rel="next"/s,
    );
  });
});
