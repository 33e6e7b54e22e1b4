import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { get, openStream } from '../../support/sse-client.js';
import { setStage, type Stage } from '../../support/stage.js';

const GZIP = { 'accept-encoding': 'gzip' };

describe('compression', () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await setStage();
  });
  afterAll(() => stage.clear());

  it.each(['/docs/http-api', '/sign-in', '/api/openapi.json', '/api/docs/swagger-ui.css'])(
    'makes %s smaller for clients that take it',
    async (path) => {
      const url = stage.origin + path;
      const [plain, compressed] = [
        await fetch(url, { headers: { 'accept-encoding': 'identity', accept: '*/*' } }),
        await fetch(url, { headers: { ...GZIP, accept: '*/*' } }),
      ];
      expect(plain.headers.get('content-encoding')).toBeNull();
      expect(compressed.headers.get('content-encoding')).toBe('gzip');
      expect(compressed.headers.get('vary')).toContain('Accept-Encoding');
      const [all, fewer] = [plain, compressed].map(({ headers }) => Number(headers.get('content-length')));
      expect(fewer).toBeLessThan((all ?? 0) / 2);
      expect(await compressed.text()).toHaveLength((await plain.text()).length);
    },
  );

  it('sends the API reference in less than 400 KB', async () => {
    const headers = { 'accept-encoding': 'gzip, deflate, br, zstd', accept: '*/*' };
    const paths = ['', '/swagger-ui-bundle.js', '/swagger-ui.css'].map((path) => `/api/docs${path}`);
    const sizes = [...paths, '/api/openapi.json'].map(async (path) => {
      // Requests at the same time wait for the same compression.
      const responses = await Promise.all([1, 2].map(() => fetch(stage.origin + path, { headers })));
      const [one, other] = await Promise.all(responses.map((response) => response.text()));
      expect(one).toBe(other);
      expect(responses[0]?.status).toBe(200);
      return Number(responses[0]?.headers.get('content-length'));
    });
    const bytes = await Promise.all(sizes);
    expect(bytes.reduce((sum, size) => sum + size)).toBeLessThan(400_000);
  });

  it('leaves streams and the other answers of the API alone', async () => {
    stage.provider.next((call) => {
      call.answer('Hello');
    });
    const answer = await openStream(stage.origin, { key: stage.key, headers: GZIP });
    await answer.over;
    expect(answer.headers['content-encoding']).toBeUndefined();
    expect((await get(stage.origin, '/api/v1/chat/models')).headers['content-encoding']).toBeUndefined();
  });
});
