import { describe, expect, it } from 'vitest';
import type { ProtocolContract, ProtocolSubject } from './protocol-contract.js';
import { ALL_OPTIONS, TEST_CALL } from './samples.js';

/** Describes the request that a protocol sends to the provider. */
export function describeRequests(
  { protocol, requestOf }: ProtocolSubject,
  { accept = 'text/event-stream', body = {}, hasOwnCredential = false }: ProtocolContract,
): void {
  describe('asking', () => {
    it('posts JSON and asks for a stream of events', async () => {
      const request = await requestOf();
      expect(request.headers).toMatchObject({ 'content-type': 'application/json', accept });
      expect(JSON.parse(request.body)).toMatchObject(body);
    });

    it('keeps the path and the query of the base URL', async () => {
      const baseUrl = new URL('https://gateway.example.com/team%20a/llm/?api-version=2024-10-21&x=1#top');
      const { url } = await requestOf({ baseUrl });
      expect(url.origin).toBe('https://gateway.example.com');
      expect(url.pathname).toMatch(/^\/team%20a\/llm\/[^/]/);
      expect(url.searchParams.get('api-version')).toBe('2024-10-21');
      expect(url.searchParams.get('x')).toBe('1');
      expect(url.hash).toBe('');
      expect(baseUrl.pathname, 'the configured URL stays as it is').toBe('/team%20a/llm/');
    });

    it('lets configured headers win, in whatever case they are written', async () => {
      const headers = { Accept: 'text/plain', 'X-Team': 'blue' };
      const request = await requestOf({ headers });
      expect(request.headers).toMatchObject({ accept: 'text/plain', 'x-team': 'blue' });
      expect(Object.keys(request.headers)).not.toContain('Accept');
    });

    if (!hasOwnCredential) {
      it('sends no credential where none is configured', async () => {
        const request = await requestOf({ apiKey: undefined });
        expect(JSON.stringify(request.headers)).not.toMatch(/secret|undefined|bearer/i);
      });
    }

    it('leaves out the generation options that the call does not have', async () => {
      const names = Object.values(protocol.generationOptions ?? {});
      const { body: sent } = await requestOf({}, { ...TEST_CALL, options: {} });
      expect(names.filter((name) => sent.includes(`"${name}"`))).toEqual([]);
    });

    it('sends each generation option that the protocol takes, under its name', async () => {
      const { body: sent } = await requestOf({}, { ...TEST_CALL, options: ALL_OPTIONS });
      const names = Object.values(protocol.generationOptions ?? {});
      expect(names.filter((name) => !sent.includes(`"${name}":`))).toEqual([]);
    });

    it('refuses an upstream without an address', async () => {
      await expect(requestOf({ baseUrl: undefined })).rejects.toMatchObject({
        code: 'internal_error',
      });
    });
  });
}
