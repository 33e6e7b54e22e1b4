import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { routesTo } from '../support/catalog.js';
import { rawRequest } from '../support/raw-request.js';
import { openStream, stream } from '../support/sse-client.js';
import { readWire } from '../support/wire.js';
import { Target } from './support/target.js';

const STAND_IN = 'builtin/stand-in';
/** As long as a header can be: Node takes 16 KB of headers in all. */
const HEADER_LENGTH = 15_000;
const REQUESTS = 10;
/** An ordinary request takes some 2 ms. Of the headers below, the worst once took 230 ms. */
const MAX_CPU_MS = 40;

/** What makes a pattern start again at each place, or come back to it. */
const UNITS = [' ', '\t', ';', ', ', '*/*,', 'a/b;q=0.1,', '=', '"', '\\"', '%', '::', '1.1.1.1,', '/..', 'a=b; ', '-'];

describe('a header of 15 KB', () => {
  let target: Target;
  let key: string;

  beforeAll(async () => {
    target = await Target.start({ env: { TRUST_PROXY: '1' } });
    key = await target.createKey();
    // Code that has never run is slow.
    for (const path of ['/sign-in', '/nothing', '/api/v1/chat/stream']) await send('POST', path, 'x-warm: up');
  });
  afterAll(() => target.stop());

  const send = (method: string, path: string, header: string): Promise<string> => {
    const name = header.slice(0, header.indexOf(':')).toLowerCase();
    const usual: Record<string, string> = {
      host: new URL(target.origin).host,
      origin: target.origin,
      authorization: path.startsWith('/api') ? `Bearer ${key}` : 'none',
      'content-type': path.startsWith('/api') ? 'application/json' : 'application/x-www-form-urlencoded',
    };
    const lines = Object.entries(usual).filter(([other]) => other !== name);
    const head = lines.map(([other, value]) => `${other}: ${value}\r\n`).join('');
    return rawRequest(
      target.origin,
      `${method} ${path} HTTP/1.1\r\n${head}${header}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
    );
  };

  /** CPU time of one request, and what was answered. */
  const cost = async (method: string, path: string, headers: readonly string[]) => {
    const answers: string[] = [];
    const cpuMs = await target.cpuMsDuring(async () => {
      for (const header of headers) answers.push(await send(method, path, header));
    });
    return { cpuMs: cpuMs / headers.length, answers };
  };

  const filled = (unit: string, length = HEADER_LENGTH) =>
    unit.repeat(Math.ceil(length / unit.length)).slice(0, length);

  it.each([
    ['/sign-in', 'application/x-www-form-urlencoded', /^HTTP\/1\.1 4\d\d$/],
    ['/sign-up', 'application/x-www-form-urlencoded', /^HTTP\/1\.1 4\d\d$/],
    // The form has no fields, so a request without a body is one, whatever its type.
    ['/sign-out', 'application/x-www-form-urlencoded', /^HTTP\/1\.1 303$/],
    ['/settings/api-keys', 'application/x-www-form-urlencoded', /^HTTP\/1\.1 4\d\d$/],
    ['/api/v1/chat/stream', 'application/json', /^HTTP\/1\.1 4\d\d$/],
  ])('that names the type of a body to %s and spaces costs next to nothing', async (path, type, status) => {
    for (const parameter of ['', '; charset=utf-8']) {
      const header = `Content-Type: ${type}${parameter}${filled(' ')}x`;
      const { cpuMs, answers } = await cost('POST', path, Array<string>(REQUESTS).fill(header));
      const statuses = new Set(answers.map((answer) => answer.slice(0, 'HTTP/1.1 000'.length)));
      expect([...statuses]).toEqual([expect.stringMatching(status)]);
      expect(cpuMs).toBeLessThan(MAX_CPU_MS);
    }
  });

  it.each([
    ['GET', '/nothing', ['Accept', 'Accept-Language', 'Cookie', 'Referer', 'User-Agent']],
    ['GET', '/sign-in', ['Cookie', 'If-None-Match', 'X-Forwarded-For', 'X-Forwarded-Proto', 'X-Forwarded-Host']],
    ['POST', '/sign-in', ['Accept', 'Origin', 'Host', 'X-Forwarded-Host', 'Content-Type', 'Content-Encoding']],
    ['POST', '/api/v1/chat/stream', ['Authorization', 'Cookie', 'Traceparent', 'Tracestate', 'X-Request-Id']],
    ['GET', '/api/v1/chat/models', ['If-None-Match', 'If-Modified-Since', 'Accept', 'Range']],
  ])('costs next to nothing with %s %s: %s', async (method, path, names) => {
    for (const name of names) {
      const headers = UNITS.flatMap((unit) => [`${name}: ${filled(unit)}`, `${name}: a/b${filled(unit)}x`]);
      const { cpuMs, answers } = await cost(method, path, headers);
      expect(answers.filter((answer) => /^HTTP\/1\.1 5/.test(answer))).toEqual([]);
      expect(cpuMs, name).toBeLessThan(MAX_CPU_MS);
    }
  });

  it('costs next to nothing as a path or a query', async () => {
    for (const path of ['/', '/assets/', '/api/v1/', '/sign-in?next=/', '/sign-in?', '/settings/api-keys/']) {
      for (const unit of ['/', '/..', '%2e%2e/', '%', '%41', 'a=1&', '&', '=', ';', '-', ':']) {
        const { cpuMs, answers } = await cost('GET', path + filled(unit), ['x-some: header']);
        expect(answers.filter((answer) => /^HTTP\/1\.1 5/.test(answer))).toEqual([]);
        expect(cpuMs, `${path} ${unit}`).toBeLessThan(4 * MAX_CPU_MS);
      }
    }
  });
});

describe('the stand-in', () => {
  let target: Target;
  let key: string;

  beforeAll(async () => {
    target = await Target.start({
      catalog: (provider) => {
        const { upstreams, models } = routesTo([provider]);
        const routes = [{ upstream: 'builtin', model: 'eliza' }];
        const standIn = { id: STAND_IN, name: 'Stand-in', provider: 'Built-in', context_length: 100_000, routes };
        return { upstreams: { ...upstreams, builtin: { protocol: 'builtin' } }, models: [...models, standIn] };
      },
    });
    key = await target.createKey();
    await stream(target.origin, { key, body: { model: STAND_IN, max_tokens: 3 } });
  });
  afterAll(() => target.stop());

  const ask = (contents: readonly string[], maxTokens?: number) => ({
    key,
    body: {
      model: STAND_IN,
      max_tokens: maxTokens,
      messages: contents.map((content) => ({ role: 'user', content })),
    },
  });

  it.each([' ', 'write ', 'count to ', 'a,'])('does not hold the others up over 999 messages of %j', async (unit) => {
    const contents = Array.from({ length: 999 }, () => unit.repeat(Math.ceil(2_000 / unit.length)));
    const cpuMs = await target.cpuMsDuring(async () => {
      const answer = await stream(target.origin, ask(contents, 1));
      expect(readWire(answer.raw).terminal).toBe('done');
    });
    // Mostly for the parsing of 2 MB. It once took 3,600 ms.
    expect(cpuMs).toBeLessThan(700);
  });

  it('repeats a text of 4 MB word by word, without memory for all of the words', async () => {
    const text = 'a '.repeat(2_000_000);
    const before = await target.residentMiB();
    const streams = await Promise.all(
      Array.from({ length: 4 }, () => openStream(target.origin, ask([`echo ${text}`]))),
    );
    for (const open of streams) await open.block(3);
    // Each once took 120 MiB. Now it takes its own body, as bytes and as text.
    expect((await target.residentMiB()) - before).toBeLessThan(200);
    for (const open of streams) open.leave();
  });
});
