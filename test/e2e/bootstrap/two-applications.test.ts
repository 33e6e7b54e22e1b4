import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answering } from '../../support/scripts.js';
import { openStream, stream } from '../../support/sse-client.js';
import { setStage, type Stage } from '../../support/stage.js';
import { wireOf } from '../../support/wire.js';

describe('two applications in one process', () => {
  let stages: [Stage, Stage];

  beforeAll(async () => {
    stages = [await setStage(), await setStage()];
    for (const { provider } of stages) {
      provider.answers(answering('Hi'));
    }
  });
  afterAll(async () => {
    for (const stage of stages.toReversed()) await stage.clear();
  });

  it.each([
    [0, 1],
    [1, 0],
  ] as const)('know their own keys only (%i)', async (own, other) => {
    const { origin, key } = stages[own];
    expect(await wireOf(await openStream(origin, { key }))).toMatchObject({ text: 'Hi', terminal: 'done' });

    const refused = await stream(origin, { key: stages[other].key });
    expect({ status: refused.status, code: (await refused.error()).code }).toEqual({
      status: 401,
      code: 'unauthenticated',
    });
  });
});
