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

  it('sends images with their question, and calls with their results', () => {
    const conversation = new Conversation();
    const turn = conversation.ask('What is this?', ['data:image/png;base64,AA==']);
    turn.calls = [
      { id: 'a', type: 'function', function: { name: 'look', arguments: '{}' }, result: 'A cat.' },
      { id: 'b', type: 'function', function: { name: 'wait', arguments: '{}' } },
    ];
    turn.end('complete');
    const call = (id: string, name: string) => ({ id, type: 'function', function: { name, arguments: '{}' } });
    expect(conversation.messages('', asked(''))).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
        ],
      },
      { role: 'assistant', content: null, tool_calls: [call('a', 'look'), call('b', 'wait')] },
      { role: 'tool', tool_call_id: 'a', content: 'A cat.' },
      { role: 'tool', tool_call_id: 'b', content: 'There is no result.' },
    ]);
  });

  it('keeps the answer of another model beside an answer, also beside a new one', () => {
    const conversation = withTurn('Yes.', 'complete');
    const [first] = conversation.turns;
    if (first === undefined) throw new Error('The turn is missing.');
    const other = conversation.askBeside(first);
    expect(conversation.turns).toEqual([first]);
    expect([conversation.besideOf(first), conversation.besideOf(other)]).toEqual([other, first]);
    conversation.branchOff(first);
    expect([conversation.besideOf(first), conversation.besideOf(other)]).toEqual([other, first]);
  });
});
