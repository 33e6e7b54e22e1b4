import { expect } from 'vitest';
import { BUILT_IN_PLUGINS } from '../../src/platform/config/config.js';
import { openStream, get, stream } from '../support/sse-client.js';
import { notWithin, serving, shown, type Effects } from './effect.js';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const TOOLS = 'https://tools.example.com';
const ALLOWED = 'access-control-allow-origin';
const OPEN_OR_CLOSED = 'must be open or closed';

/** Who may do what, and how much of it at once. */
export const access: Effects = {
  TRUST_PROXY: {
    ...shown({ TRUST_PROXY: '1' }, ({ origin }) => statusOfFormThroughProxy(origin), { set: 401, unset: 403 }),
    refused: notWithin('TRUST_PROXY', 0, 100, 'true'),
  },
  SIGN_UP: {
    async set() {
      await serving({ env: { SIGN_UP: 'open' } }, async ({ origin }) => {
        expect(await statusOfSignUp(origin)).toBe(303);
      });
      await serving({ env: { SIGN_UP: 'closed' } }, async ({ origin }) => {
        expect(await statusOfSignUp(origin)).toBe(403);
      });
    },
    async unset() {
      await serving({}, async ({ origin }) => {
        expect(await statusOfSignUp(origin)).toBe(403);
      });
      await serving({ env: { NODE_ENV: 'development' } }, async ({ origin }) => {
        expect(await statusOfSignUp(origin)).toBe(303);
      });
    },
    refused: [
      ['yes', `SIGN_UP: ${OPEN_OR_CLOSED}`],
      ['OPEN', `SIGN_UP: ${OPEN_OR_CLOSED}`],
    ],
  },
  PLUGINS: {
    ...shown({ PLUGINS: 'durable, dashboard' }, ({ origin }) => statusOf(origin, '/api/v1/models'), {
      set: 404,
      unset: 200,
    }),
    refused: [['durable,pages', `PLUGINS: must be all, none, or a list of ${BUILT_IN_PLUGINS.join(', ')}`]],
  },
  COMPATIBLE_APIS: {
    ...shown({ COMPATIBLE_APIS: 'none' }, ({ origin }) => statusOf(origin, '/api/v1/models'), { set: 404, unset: 200 }),
    refused: [['completions', 'COMPATIBLE_APIS: must be none, or a list of chat-completions, responses, messages']],
  },
  CORS_ORIGINS: {
    ...shown(
      { CORS_ORIGINS: TOOLS },
      async ({ origin }) => (await get(origin, '/api/v1/chat/models', { Origin: TOOLS })).headers[ALLOWED],
      { set: TOOLS, unset: undefined },
    ),
    refused: [['tools.example.com', 'CORS_ORIGINS: must be a list of origins such as https://tools.example.com']],
  },
  API_DOCS: {
    ...shown(
      { API_DOCS: 'closed' },
      async ({ origin }) => [
        await statusOf(origin, '/api/docs'),
        (await get(origin, '/api/openapi.json')).raw.includes('"openapi":"3.1'),
        await statusOf(origin, '/api/openapi.json'),
      ],
      { set: [404, false, 404], unset: [200, true, 200] },
    ),
    refused: [['none', `API_DOCS: ${OPEN_OR_CLOSED}`]],
  },
  MAX_STREAMS: {
    set: () =>
      serving({ env: { MAX_STREAMS: '1' } }, async ({ origin, key, provider }) => {
        provider.next((call) => void call.head().text('Hel'));
        const running = await openStream(origin, { key });
        const refused = await stream(origin, { key });
        expect(refused.status).toBe(503);
        expect((await refused.error()).code).toBe('unavailable');
        running.leave();
      }),
    // The number is the business of capacity.test.ts: this machine may have any.
    unset: () =>
      serving({}, async ({ origin, key, provider }) => {
        provider.answers((call) => void call.head().text('Hel'));
        const running = await Promise.all(Array.from({ length: 50 }, () => openStream(origin, { key })));
        expect(running.map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 200));
        for (const one of running) one.leave();
      }),
    refused: notWithin('MAX_STREAMS', 1, 1_000_000, 'many'),
  },
};

async function statusOf(origin: string, path: string): Promise<number> {
  return (await get(origin, path)).status;
}

async function statusOfSignUp(origin: string): Promise<number> {
  const body = new URLSearchParams({ email: 'ada@example.com', password: 'correct horse battery' }).toString();
  return (await stream(origin, { method: 'POST', path: '/sign-up', body, headers: { ...FORM, origin } })).status;
}

/** A form of a page of the host that the proxy stands for; nobody has the account. */
async function statusOfFormThroughProxy(origin: string): Promise<number> {
  const headers = {
    ...FORM,
    origin: 'https://chat.example.com',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'chat.example.com',
  };
  const body = new URLSearchParams({ email: 'nobody@example.com', password: 'correct horse battery' }).toString();
  return (await stream(origin, { method: 'POST', path: '/sign-in', body, headers })).status;
}
