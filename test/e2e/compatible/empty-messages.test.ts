import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMPLETE, say, ScriptedModel } from './scripted-model.js';

/** The content of each message, in the form of each surface. */
type Messages = readonly (readonly [role: string, content: string])[];

const BODIES: Readonly<Record<string, (messages: Messages) => object>> = {
  'chat/completions': (messages) => ({ messages: messages.map(([role, content]) => ({ role, content })) }),
  responses: (messages) => ({ input: messages.map(([role, content]) => ({ role, content })) }),
  messages: (messages) => ({
    max_tokens: 100,
    system: '',
    messages: messages.map(([role, content]) => ({ role: role === 'developer' ? 'system' : role, content })),
  }),
};

describe.each(Object.entries(BODIES))('a client of %s', (path, bodyOf) => {
  let model: ScriptedModel;

  beforeAll(async () => {
    model = await ScriptedModel.start();
  });
  afterAll(() => model.stop());

  const ask = (messages: Messages) => {
    model.answers(say('Hello'), { type: 'finish', reason: 'stop', raw: 'stop' }, COMPLETE);
    return fetch(`${model.baseUrl}/${path}`, {
      ...{ method: 'POST', headers: { authorization: `Bearer ${model.key}`, 'content-type': 'application/json' } },
      body: JSON.stringify({ model: 'acme/fast', ...bodyOf(messages) }),
    });
  };

  it('may send empty messages before the question', async () => {
    const response = await ask([
      ...[['system', ''] as const, ['developer', ''] as const, ['user', 'Hi'] as const, ['assistant', ''] as const],
      ...[['user', ''] as const, ['user', 'And now?'] as const],
    ]);
    expect(response.status).toBe(200);
    expect(model.lastCall.messages).toEqual([
      { role: 'user', content: 'Hi' },
      { role: 'user', content: 'And now?' },
    ]);
  });

  it('gets an error for an empty question', async () => {
    const response = await ask([
      ['user', 'Hi'],
      ['user', ''],
    ]);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(path === 'responses' ? 'input.1.content' : 'messages.1.content');
  });
});
