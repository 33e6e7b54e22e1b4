import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ScriptedProvider } from '../../src/testing/provider/scripted-provider.js';
import { configFile, routesTo } from '../support/catalog.js';
import { ENDED_WITHIN_MS, KNOWN_WITHIN_MS } from '../support/known-within.js';
import { Installation } from '../support/process.js';
import { openStream } from '../support/sse-client.js';
import { lastBefore } from '../support/wait-for.js';
import { wireOf } from '../support/wire.js';

describe('a key that another process revokes', () => {
  let provider: ScriptedProvider;
  let installation: Installation;

  beforeAll(async () => {
    provider = await ScriptedProvider.start();
    installation = await Installation.create(configFile(routesTo([provider])));
  });
  afterEach(() => installation.remove());
  afterAll(() => provider.stop());

  it('is refused within a second, and its streams end within two with key_revoked', async () => {
    const { id, key } = await installation.createKey();
    const origin = await installation.start().origin();
    provider.answers((call) => {
      call.head().text('Hi');
    });
    const answer = await openStream(origin, { key });
    await answer.block(1);

    await installation.admin('key', 'revoke', '--id', id);
    const revokedAt = performance.now();

    const lastAccepted = await lastBefore(async () => {
      const probe = await openStream(origin, { key });
      probe.leave();
      return probe.status === 401;
    }, 'the key to be refused');
    expect(lastAccepted - revokedAt).toBeLessThan(KNOWN_WITHIN_MS);
    expect(await wireOf(answer)).toMatchObject({ text: 'Hi', terminal: 'key_revoked' });
    expect(performance.now() - revokedAt).toBeLessThan(ENDED_WITHIN_MS);
  });
});
