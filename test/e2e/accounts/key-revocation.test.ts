import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiKeysService } from '../../../src/accounts/api-keys/api-keys.service.js';
import type { Script } from '../../../src/testing/provider/scripted-provider.js';
import { beginning } from '../../support/scripts.js';
import { openStream, stream } from '../../support/sse-client.js';
import { setStage, type Stage } from '../../support/stage.js';
import { waitFor } from '../../support/wait-for.js';
import { wireOf } from '../../support/wire.js';

const talkOn: Script = beginning('Hi');

describe('a key that is revoked in this process', () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await setStage();
  });
  afterAll(() => stage.clear());

  const revoke = (id: string) => stage.service.app.get(ApiKeysService, { strict: false }).revoke(id);

  it('is refused at once, and its streams end with key_revoked, those of other keys not', async () => {
    stage.provider.answers(talkOn);
    const { id, key } = await stage.service.createKey();
    const [first, second, other] = await Promise.all([
      openStream(stage.origin, { key }),
      openStream(stage.origin, { key }),
      openStream(stage.origin, { key: stage.key }),
    ]);
    await Promise.all([first, second, other].map((answer) => answer.block(1)));

    await revoke(id);

    expect((await stream(stage.origin, { key })).status).toBe(401);
    for (const answer of [first, second]) {
      expect(await wireOf(answer)).toMatchObject({ text: 'Hi', terminal: 'key_revoked' });
      expect(await answer.over).toBe('ended');
    }
    await waitFor(
      () => stage.provider.calls.filter(({ abortedAt }) => abortedAt !== undefined).length === 2,
      'two aborts',
    );
    expect(other.blocks).toHaveLength(1);
    other.leave();
  });

  it('has its streams ended when it expires, too', async () => {
    stage.provider.answers(talkOn);
    const { key } = await stage.service.createKey({ expiresAt: new Date(Date.now() + 3_000) });
    const answer = await openStream(stage.origin, { key });
    expect(await wireOf(answer)).toMatchObject({ text: 'Hi', terminal: 'key_revoked' });
  });
});
