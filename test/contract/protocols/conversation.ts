import type { Message, Tool } from '../../../src/upstreams/contract/conversation.js';
import type { StreamPart } from '../../../src/upstreams/contract/stream-part.js';

export const PIXEL = 'iVBORw0KGgo=';
export const IMAGE = { type: 'image', url: `data:image/png;base64,${PIXEL}`, mediaType: 'image/png' } as const;
export const REMOTE_IMAGE = { type: 'image', url: 'https://example.com/cat.png' } as const;

export const SCHEMA = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
export const WEATHER: Tool = { name: 'weather', description: 'The weather.', parameters: SCHEMA };
export const CLOCK: Tool = { name: 'clock', parameters: { type: 'object' }, strict: true };

/** A conversation with an image, reasoning of a protocol, two parallel calls and their results. */
export function conversation(protocol: string): readonly Message[] {
  return [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'text', text: 'What is this?' }, IMAGE] },
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'Hm.', signature: `${protocol}:signed` },
        { type: 'reasoning', text: 'Of another provider.', signature: 'other:signed' },
        { type: 'text', text: 'I look.' },
        { type: 'tool_call', id: 'call_1', name: 'weather', json: '{"city":"Paris"}', signature: `${protocol}:called` },
        { type: 'tool_call', id: 'functions.clock:1', name: 'clock', json: '{}' },
      ],
    },
    {
      role: 'tool',
      content: [
        { toolCallId: 'call_1', content: 'Sunny' },
        { toolCallId: 'functions.clock:1', content: [{ type: 'text', text: 'No clock' }, IMAGE], isError: true },
      ],
    },
    { role: 'user', content: 'And now?' },
  ];
}

/** Replaces the ids that a protocol has made, which are random, by their positions. */
export function withCountedIds(parts: readonly StreamPart[]): readonly StreamPart[] {
  const ids: string[] = [];
  return parts.map((part) => {
    if (!('id' in part)) return part;
    if (part.type === 'tool_call_start') ids.push(part.id);
    return { ...part, id: `#${ids.indexOf(part.id)}` };
  });
}
