import { readDurable } from '../../../support/durable.js';
import { readWire } from '../../../support/wire.js';

/** What one response says: its text, and its end. */
export interface Said {
  readonly text: string;
  /** `done`, or the code of the failure. `undefined`: the connection ended without a last event. */
  readonly end: string | undefined;
  /** The id of the last event. */
  readonly lastId?: string | undefined;
}

export interface Surface {
  readonly name: string;
  readonly path: string;
  body(question: string, maxTokens: number): object;
  read(raw: string): Said;
}

const MODEL = 'acme/fast';
const userSays = (content: string) => [{ role: 'user', content }];

/** Returns the events of a body that may break off at any place. */
function eventsOf(raw: string): Record<string, unknown>[] {
  const whole = raw.slice(0, raw.lastIndexOf('\n\n') + 2);
  return whole.split('\n\n').flatMap((block) => {
    const data = /^data: (\{.*)$/m.exec(block)?.[1];
    return data === undefined ? [] : [JSON.parse(data) as Record<string, unknown>];
  });
}

function codeOf(error: unknown): string {
  const { code, type } = error as { code?: string | null; type?: string };
  return code ?? type ?? 'unknown';
}

/** Reads the events of a surface: each event has some text, or is an end. */
function readEvents(raw: string, textOf: (event: never) => string, endOf: (event: never) => string | undefined): Said {
  let text = '';
  let end: string | undefined;
  for (const event of eventsOf(raw)) {
    text += textOf(event as never);
    end ??= endOf(event as never);
  }
  return { text, end };
}

interface ChatChunk {
  readonly choices?: { readonly delta: { readonly content?: string | null } }[];
  readonly error?: object;
}

interface ResponseEvent {
  readonly type: string;
  readonly delta?: string;
  readonly error?: object;
}

interface MessageEvent {
  readonly type: string;
  readonly delta?: { readonly type?: string; readonly text?: string };
  readonly error?: object;
}

interface WholeBody {
  readonly choices?: { readonly message: { readonly content: string | null } }[];
  readonly output?: { readonly type: string; readonly content?: { readonly text: string }[] }[];
  readonly content?: { readonly text?: string }[];
}

function readWhole(raw: string): Said {
  const { choices, output, content } = JSON.parse(raw) as WholeBody;
  const texts = [
    ...(choices ?? []).map(({ message }) => message.content),
    ...(output ?? []).flatMap((item) => item.content ?? []).map(({ text }) => text),
    ...(content ?? []).map(({ text }) => text),
  ];
  return { text: texts.join(''), end: 'done' };
}

export const CHAT_STREAM: Surface = {
  name: 'chat/stream',
  path: '/api/v1/chat/stream',
  body: (question, maxTokens) => ({ model: MODEL, messages: userSays(question), max_tokens: maxTokens }),
  read: (raw) => {
    const { text, terminal } = readWire(raw);
    return { text, end: terminal };
  },
};

export const DURABLE_STREAM: Surface = {
  ...CHAT_STREAM,
  read: (raw) => {
    const { text, terminal, ids } = readDurable(raw);
    return { text, end: terminal, lastId: ids.at(-1) };
  },
};

const COMPLETIONS: Surface = {
  name: 'chat/completions',
  path: '/api/v1/chat/completions',
  body: (question, maxTokens) => ({
    ...{ model: MODEL, messages: userSays(question), max_tokens: maxTokens, stream: true },
  }),
  read: (raw) => {
    const said = readEvents(
      raw,
      ({ choices }: ChatChunk) => choices?.[0]?.delta.content ?? '',
      ({ error }: ChatChunk) => error && codeOf(error),
    );
    return { ...said, end: said.end ?? (raw.endsWith('data: [DONE]\n\n') ? 'done' : undefined) };
  },
};

const RESPONSES: Surface = {
  name: 'responses',
  path: '/api/v1/responses',
  body: (question, maxTokens) => ({ model: MODEL, input: question, max_output_tokens: maxTokens, stream: true }),
  read: (raw) =>
    readEvents(
      raw,
      ({ type, delta }: ResponseEvent) => (type === 'response.output_text.delta' ? (delta ?? '') : ''),
      ({ type, error }: ResponseEvent) =>
        type === 'response.completed' ? 'done' : type === 'error' ? codeOf(error) : undefined,
    ),
};

const MESSAGES: Surface = {
  name: 'messages',
  path: '/api/v1/messages',
  body: (question, maxTokens) => ({
    ...{ model: MODEL, messages: userSays(question), max_tokens: maxTokens, stream: true },
  }),
  read: (raw) =>
    readEvents(
      raw,
      ({ type, delta }: MessageEvent) => (type === 'content_block_delta' ? (delta?.text ?? '') : ''),
      ({ type, error }: MessageEvent) =>
        type === 'message_stop' ? 'done' : type === 'error' ? codeOf(error) : undefined,
    ),
};

const STREAMED = [COMPLETIONS, RESPONSES, MESSAGES];
export const WHOLE: readonly Surface[] = STREAMED.map((surface) => ({
  ...surface,
  name: `${surface.name}, whole`,
  body: (question, maxTokens) => ({ ...surface.body(question, maxTokens), stream: false }),
  read: readWhole,
}));
export const SURFACES: readonly Surface[] = [CHAT_STREAM, ...STREAMED, ...WHOLE];
