import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configFile, routesTo } from '../support/catalog.js';
import { Installation } from '../support/process.js';
import { ScriptedProvider } from '../../src/testing/provider/scripted-provider.js';
import { ENDED_WITHIN_MS, KNOWN_WITHIN_MS } from '../support/known-within.js';
import { openStream, stream } from '../support/sse-client.js';
import { lastBefore, waitFor } from '../support/wait-for.js';
import { wireOf } from '../support/wire.js';

const EMAIL = 'ada@example.com';
const PASSWORD = 'correct horse battery';

describe('an account that the admin command', () => {
  let provider: ScriptedProvider;
  let installation: Installation;
  let origins: string[];
  let key: string;

  beforeAll(async () => {
    provider = await ScriptedProvider.start();
    installation = await Installation.create(configFile(routesTo([provider])));
    ({ key } = await installation.createKey(EMAIL));
    origins = await Promise.all([installation.start().origin(), installation.start().origin()]);
    provider.answers((call) => {
      call.head().text('Hi');
    });
  });
  afterAll(async () => {
    await installation.remove();
    await provider.stop();
  });

  const signIn = async (email: string, password: string) => {
    const origin = origins[0] ?? '';
    const body = new URLSearchParams({ email, password });
    const answer = await fetch(`${origin}/sign-in`, {
      method: 'POST',
      body,
      headers: { origin, accept: 'text/html' },
      redirect: 'manual',
    });
    const page = await answer.text();
    return { status: answer.status, cookies: answer.headers.getSetCookie(), page: page.replaceAll(email, '…') };
  };
  const isRefused = async (origin: string) => {
    const probe = await openStream(origin, { key });
    probe.leave();
    return probe.status === 401;
  };

  it('disables loses its streams and keys on every replica, and signs in like with a wrong password', async () => {
    const wrong = await signIn(EMAIL, 'another horse battery');
    expect((await signIn(EMAIL, PASSWORD)).status).toBe(303);
    const answers = await Promise.all(origins.map((origin) => openStream(origin, { key })));
    await Promise.all(answers.map((answer) => answer.block(1)));

    expect(await installation.admin('account', 'disable', '--email', EMAIL)).toMatchObject({ state: 'disabled' });
    const disabledAt = performance.now();

    const lastAccepted = Promise.all(
      origins.map((origin) => lastBefore(() => isRefused(origin), 'the key to be refused')),
    );
    for (const answer of answers) expect(await wireOf(answer)).toMatchObject({ terminal: 'key_revoked' });
    expect(performance.now() - disabledAt).toBeLessThan(ENDED_WITHIN_MS);
    for (const last of await lastAccepted) expect(last - disabledAt).toBeLessThan(KNOWN_WITHIN_MS);
    expect(await signIn(EMAIL, PASSWORD)).toEqual(wrong);
  });

  it('enables can sign in and use its keys again', async () => {
    await installation.admin('account', 'enable', '--email', EMAIL);
    provider.answers((call) => {
      call.answer('Hi');
    });
    for (const origin of origins) {
      await waitFor(async () => (await stream(origin, { key })).status === 200, 'the key to be accepted');
      expect(await wireOf(await openStream(origin, { key }))).toMatchObject({ terminal: 'done' });
    }
    expect((await signIn(EMAIL, PASSWORD)).status).toBe(303);
  });

  it('deletes leaves its usage without its address', async () => {
    const before = await installation.admin('usage');
    const { id } = await installation.admin('account', 'delete', '--email', EMAIL);
    for (const origin of origins) await waitFor(() => isRefused(origin), 'the key to be refused');
    const after = await waitFor(async () => {
      const usage = (await installation.admin('usage')) as unknown as { account_id: string; email: string | null }[];
      return usage.length >= (before as unknown as object[]).length ? usage : undefined;
    }, 'the usage');
    expect(after.every(({ account_id, email }) => account_id === id && email === null)).toBe(true);
  });
});
