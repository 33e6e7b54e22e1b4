import { describe, expect, it } from 'vitest';
import {
  Conversation,
  type TurnState,
} from '../../../../../../src/plugins/dashboard/static/playground/conversation.js';

function withTurn(answer: string, state: Exclude<TurnState, 'answering'>): Conversation {
  const conversation = new Conversation();
  const turn = conversation.ask('First?');
  turn.add(answer);
  turn.end(state);
  return conversation;
}

const asked = (question: string, ...images: string[]) => ({ question, images });
const NEXT = { role: 'user', content: 'Next?' };
const BOTH = [{ role: 'user', content: 'First?' }, { role: 'assistant', content: 'Yes.' }, NEXT];

describe('a conversation', () => {
  it.each<[string, string, Exclude<TurnState, 'answering'>, object[]]>([
    ['a complete answer with its question', 'Yes.', 'complete', BOTH],
    ['a stopped answer with its question', 'Yes.', 'stopped', BOTH],
    ['nothing of a broken answer', 'Yes.', 'failed', [NEXT]],
    ['nothing of an answer stopped before any text', '', 'stopped', [NEXT]],
    ['nothing of an empty answer', '', 'complete', [NEXT]],
  ])('sends along %s', (_, answer, state, expected) => {
    expect(withTurn(answer, state).messages('', asked('Next?'))).toEqual(expected);
  });

  it('begins with the system prompt as it is written, if there is one', () => {
    const conversation = new Conversation();
    expect(conversation.messages(' Be brief.\n', asked('Next?'))).toEqual([
      { role: 'system', content: ' Be brief.\n' },
      NEXT,
    ]);
    expect(conversation.messages(' \n', asked('Next?'))).toEqual([NEXT]);
  });

  it('sends a failed question again without it being there twice', () => {
    const conversation = withTurn('Ye', 'failed');
    const turn = conversation.last;
    const request = { model: 'acme/fast', messages: [] };
    turn?.begin(request, 'Fast', 'key');
    expect(turn).toMatchObject({ state: 'answering', answer: '', request, modelName: 'Fast' });
    expect(conversation.messages('', asked('First?'), turn)).toEqual([{ role: 'user', content: 'First?' }]);
  });

  it('leaves out what follows a question that is sent again', () => {
    const conversation = withTurn('Yes.', 'complete');
    const second = conversation.ask('Second?');
    second.add('No.');
    second.end('complete');
    expect(conversation.messages('', asked('First?'), conversation.turns[0])).toEqual([
      { role: 'user', content: 'First?' },
    ]);
  });

  it('drops a turn that is removed, and all turns when they are replaced by none', () => {
    const conversation = withTurn('Yes.', 'complete');
    const turn = conversation.ask('Second?');
    conversation.cutBefore(turn);
    expect(conversation.messages('', asked('Next?'))).toEqual(BOTH);
    conversation.restore();
    expect(conversation.isEmpty).toBe(true);
    expect(conversation.messages('', asked('Next?'))).toEqual([NEXT]);
  });
});
