import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type RunningService } from '../../support/service.js';

const BROWSER = { accept: 'text/html' };

describe('the documents of the service', () => {
  let service: RunningService;

  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  const pageOf = async (path: string, at = service.origin) => {
    const response = await fetch(at + path, { headers: BROWSER });
    return { status: response.status, html: await response.text() };
  };
  const linksOf = (html: string) => [...html.matchAll(/href="([^"]*)"/g)].map(([, href = '']) => href);

  it('lead to each other, to sections that exist', async () => {
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

  it('are not there with API_DOCS=closed', async () => {
    const closed = await startService({ env: { API_DOCS: 'closed' } });
    try {
      for (const path of ['/docs', '/docs/http-api']) expect((await pageOf(path, closed.origin)).status).toBe(404);
      expect((await pageOf('/', closed.origin)).html).not.toContain('href="/docs"');
    } finally {
      await closed.stop();
    }
  });
});
