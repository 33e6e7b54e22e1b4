import { MODEL } from '../../support/catalog.js';
import type { SurfaceName } from './report.js';

/** What a client has read from an answer. */
export interface ReadAnswer {
  text: string;
  calls: { name: string; json: string }[];
  /** The reason in the words of the surface. `undefined`: the answer was not told as complete. */
  finish: string | undefined;
  /** Whether the answer was told as failed. */
  isFailed: boolean;
}

interface Surface {
  readonly finishes: Readonly<Record<'stop' | 'length' | 'tool_calls', string>>;
  /** The members of a request. `chat/stream` has no tools. */
  body(question: string, tools: readonly string[]): object;
  /** Reads the events of a stream. */
  streamed(events: readonly Event[]): ReadAnswer;
  /** Reads a whole answer. `text` is the body as it was sent. */
  whole?(body: Json, text: string): ReadAnswer;
}

interface Call {
  readonly index: number;
  readonly function: { readonly name: string; readonly arguments: string };
}

interface Choice {
  readonly delta: { readonly content?: string; readonly tool_calls?: readonly Call[] };
  readonly message: { readonly content: string | null; readonly tool_calls?: readonly Call[] };
  readonly finish_reason: string | null;
}

interface ResponseBody {
  readonly status: string;
  readonly output: readonly {
    readonly type: string;
    readonly content?: readonly { readonly text: string }[];
    readonly name?: string;
    readonly arguments?: string;
  }[];
}

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly name?: string;
}

interface Delta {
  readonly type?: string;
  readonly text?: string;
  readonly partial_json?: string;
  readonly stop_reason?: string;
}

/** The members of all formats. */
interface Json extends ResponseBody {
  readonly type?: string;
  readonly error?: unknown;
  readonly done?: boolean;
  readonly content: string | readonly Block[];
  readonly choices?: readonly Choice[];
  readonly response?: ResponseBody;
  readonly delta?: string | Delta;
  readonly content_block?: Block;
  readonly stop_reason?: string;
}

interface Event {
  readonly name: string;
  readonly data: Json;
}

const SCHEMA = { type: 'object', properties: {} };
const nothing = (): ReadAnswer => ({ text: '', calls: [], finish: undefined, isFailed: false });

export const SURFACES: Readonly<Record<SurfaceName, Surface>> = {
  'chat/stream': {
    finishes: { stop: 'done', length: 'done', tool_calls: 'done' },
    body: (content) => ({ model: MODEL, messages: [{ role: 'user', content }] }),
    streamed(events) {
      const answer = nothing();
      for (const { data } of events) {
        if (typeof data.content === 'string') answer.text += data.content;
        if (data.done === true) answer.finish = 'done';
        if (data.error !== undefined) answer.isFailed = true;
      }
      return answer;
    },
  },
  'chat/completions': {
    finishes: { stop: 'stop', length: 'length', tool_calls: 'tool_calls' },
    body: (content, tools) => ({
      ...{ model: MODEL, messages: [{ role: 'user', content }] },
      tools: tools.map((name) => ({ type: 'function', function: { name, parameters: SCHEMA } })),
    }),
    streamed(events) {
      const answer = nothing();
      for (const { data } of events) {
        if (data.error !== undefined) answer.isFailed = true;
        const [choice] = data.choices ?? [];
        answer.text += choice?.delta.content ?? '';
        answer.finish ??= choice?.finish_reason ?? undefined;
        for (const { index, function: called } of choice?.delta.tool_calls ?? []) {
          const call = (answer.calls[index] ??= { name: called.name, json: '' });
          call.json += called.arguments;
        }
      }
      return answer;
    },
    whole({ choices: [choice] = [] }) {
      const calls = choice?.message.tool_calls ?? [];
      return {
        ...{ ...nothing(), text: choice?.message.content ?? '', finish: choice?.finish_reason ?? undefined },
        calls: calls.map(({ function: called }) => ({ name: called.name, json: called.arguments })),
      };
    },
  },
  responses: {
    finishes: { stop: 'completed', length: 'incomplete', tool_calls: 'completed' },
    body: (input, tools) => ({
      ...{ model: MODEL, input },
      tools: tools.map((name) => ({ type: 'function', name, parameters: SCHEMA })),
    }),
    streamed(events) {
      const last = events.findLast(({ data }) => data.response !== undefined)?.data.response;
      const deltas = events.filter(({ name }) => name === 'response.output_text.delta');
      const text = deltas.map(({ data }) => (typeof data.delta === 'string' ? data.delta : '')).join('');
      if (last === undefined || last.status === 'failed') return { ...nothing(), text, isFailed: true };
      return { ...wholeResponse(last), text };
    },
    whole: wholeResponse,
  },
  messages: {
    finishes: { stop: 'end_turn', length: 'max_tokens', tool_calls: 'tool_use' },
    body: (content, tools) => ({
      ...{ model: MODEL, max_tokens: 1_000, messages: [{ role: 'user', content }] },
      tools: tools.map((name) => ({ name, input_schema: SCHEMA })),
    }),
    streamed(events) {
      const answer = nothing();
      for (const { data } of events) {
        if (data.type === 'error') answer.isFailed = true;
        const { content_block: block, delta } = data;
        if (block?.type === 'tool_use') answer.calls.push({ name: block.name ?? '', json: '' });
        if (typeof delta !== 'object') continue;
        answer.text += delta.text ?? '';
        const call = answer.calls.at(-1);
        if (call !== undefined) call.json += delta.partial_json ?? '';
        answer.finish ??= delta.stop_reason;
      }
      return answer;
    },
    whole({ content, stop_reason: finish }, sent) {
      const blocks = typeof content === 'string' ? [] : content;
      const calls = blocks.filter(({ type }) => type === 'tool_use');
      const inputs = inputTexts(sent);
      const text = blocks.map((block) => block.text ?? '').join('');
      return {
        ...{ ...nothing(), text, finish },
        calls: calls.map(({ name = '' }, at) => ({ name, json: inputs[at] ?? '' })),
      };
    },
  },
};

function wholeResponse({ output, status }: ResponseBody): ReadAnswer {
  const texts = output.map((item) => (item.type === 'message' ? (item.content?.[0]?.text ?? '') : ''));
  const calls = output.filter(({ type }) => type === 'function_call');
  return {
    ...{ ...nothing(), text: texts.join(''), finish: status },
    calls: calls.map(({ name = '', arguments: json = '' }) => ({ name, json })),
  };
}

/** Returns the JSON text of each `input` as it was sent: a parser would lose digits. */
function inputTexts(sent: string): string[] {
  return [...sent.matchAll(/"input":(\{.*?\}),"caller":/gs)].map(([, input = '']) => input);
}

/** Returns the events of a stream, without its end marker and its comments. */
export function eventsOf(stream: string): readonly Event[] {
  return stream.split('\n\n').flatMap((block): Event[] => {
    const data = /^data: (.*)$/m.exec(block)?.[1];
    const name = /^event: (.*)$/m.exec(block)?.[1] ?? 'message';
    return data === undefined || data === '[DONE]' ? [] : [{ name, data: JSON.parse(data) as Json }];
  });
}
