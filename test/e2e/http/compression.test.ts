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
