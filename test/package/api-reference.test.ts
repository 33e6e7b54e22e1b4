import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setStage, type Stage } from '../support/stage.js';

describe('compression', () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await setStage();
  });
  afterAll(() => stage.clear());

  // To compress the scripts as far as possible takes seconds.
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
});
