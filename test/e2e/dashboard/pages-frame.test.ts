import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type RunningService } from '../../support/service.js';

const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

describe('a page', () => {
  let service: RunningService;

  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  const get = (path: string, init: RequestInit = {}) =>
    fetch(`${service.origin}${path}`, { headers: BROWSER, redirect: 'manual', ...init });

  it('that is unknown is not found: as a page for a browser, as JSON for others', async () => {
    const page = await get('/nowhere');
    expect(page.status).toBe(404);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(await page.text()).toMatch(/^<!doctype html><html lang="en">.*<h1>Page not found<\/h1>/s);

    for (const accept of ['application/json', '*/*']) {
      const other = await get('/nowhere', { headers: { accept } });
      expect(other.status).toBe(404);
      expect(await other.json()).toMatchObject({ error: { code: 'not_found' } });
    }
    const api = await get('/api/v1/nowhere');
    expect(await api.json()).toMatchObject({ error: { code: 'not_found' } });
  });

  it('allows nothing from elsewhere, no script in itself, and no frame around it', async () => {
    const { headers } = await get('/nowhere');
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('same-origin');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-request-id')).toMatch(/./);
    expect(headers.get('strict-transport-security')).toBeNull();
  });

  it('requires HTTPS from then on, once a request came over HTTPS', async () => {
    const behindProxy = await startService({ env: { TRUST_PROXY: '1' } });
    try {
      const { headers } = await fetch(`${behindProxy.origin}/nowhere`, {
        headers: { ...BROWSER, 'x-forwarded-proto': 'https' },
      });
      expect(headers.get('strict-transport-security')).toMatch(/^max-age=\d{7,}$/);
    } finally {
      await behindProxy.stop();
    }
  });

  it('has its files at addresses that change with them', async () => {
    const html = await (await get('/nowhere')).text();
    const files = [...html.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path = '']) => path);
    expect(files.length).toBeGreaterThan(2);
    const types = { css: /^text\/css/, js: /^text\/javascript/, svg: /^image\/svg/ };
    for (const path of files) {
      const file = await get(path);
      expect(file.status).toBe(200);
      expect(file.headers.get('content-type')).toMatch(types[path.split('.').at(-1) as keyof typeof types]);
      expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(file.headers.get('x-content-type-options')).toBe('nosniff');
      expect((await file.text()).length).toBeGreaterThan(100);
    }
    const css = files.find((path) => path.endsWith('app.css')) ?? '';
    const other = await get(css.replace(/^\/assets\/[^/]+/, '/assets/earlier'));
    expect([other.status, other.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect((await get(css.replace('app.css', 'none.css'))).status).toBe(404);
    expect((await get(css.replace('app.css', '..%2Flayout%2Flayout.js'))).status).toBe(404);
  });

  it('answers HEAD with its headers alone', async () => {
    const page = await get('/nowhere', { method: 'HEAD' });
    expect(page.status).toBe(404);
    expect(Number(page.headers.get('content-length'))).toBeGreaterThan(500);
    expect(await page.text()).toBe('');
  });

  it('does not take another method', async () => {
    const answer = await get('/', { method: 'PUT' });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('GET, HEAD');
    expect(await answer.text()).toContain('<h1>');
  });

  it('of the documentation leads to other pages, and to sections that exist', async () => {
    const pageOf = async (path: string) => {
      const response = await get(path);
      return { status: response.status, html: await response.text() };
    };
    const linksOf = (html: string) => [...html.matchAll(/href="([^"]*)"/g)].map(([, href = '']) => href);
    const { html: list } = await pageOf('/docs');
    const names = new Set(linksOf(list).filter((href) => href.startsWith('/docs/')));
    expect([...names]).toEqual(
      expect.arrayContaining(['/docs/http-api#limits', '/docs/compatible-apis', '/docs/operations']),
    );
    const pages = new Map<string, string>();
    for (const path of new Set([...names].map((href) => href.replace(/#.*/, '')))) {
      const { status, html } = await pageOf(path);
      expect([path, status]).toEqual([path, 200]);
      pages.set(path, html);
    }
    const all = [...pages].flatMap(([path, html]) =>
      linksOf(html).map((href) => (href.startsWith('#') ? path + href : href)),
    );
    for (const href of new Set([...names, ...all]).values()) {
      if (!href.startsWith('/docs/')) continue;
      const [path = '', id] = href.split('#');
      expect([href, pages.has(path)]).toEqual([href, true]);
      if (id !== undefined) expect([href, pages.get(path)?.includes(`id="${id}"`)]).toEqual([href, true]);
    }
    expect(all.filter((href) => href.includes('.md'))).toEqual([]);
    expect((await pageOf('/docs/nothing')).status).toBe(404);
  });
});
