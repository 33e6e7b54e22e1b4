/** One tool call of a provider. */
interface ScriptedToolCall {
  /** The position of the call in the answer, from 0. */
  readonly index: number;
  readonly id: string;
  readonly name: string;
  /** The arguments as JSON text, an object. */
  readonly json: string;
}

/**
 * The event format of a provider: each method returns the text of the events for one part of an answer.
 *
 * @since 1.0
 */
export interface Dialect {
  /** The value of `protocol` in CONFIG_FILE. */
  readonly protocol: string;
  text(text: string): string;
  reasoning(text: string): string;
  /** A whole tool call. A provider that has no tool calls leaves the method out. */
  toolCall?(call: ScriptedToolCall): string;
  finish(reason: string): string;
  failure(type: string, message: string): string;
  /** The last event of the stream. Empty if the protocol has none. */
  readonly endMarker: string;
  /** Returns the dialect of one answer, for events with state, such as a sequence number. Without it, all answers share this object. */
  forAnswer?(): Dialect;
}

const chunk = (choice: object) =>
  `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', choices: [{ index: 0, ...choice }] })}\n\n`;

const PIECE_LENGTH = 8;

/** Returns the arguments in pieces, as providers send them. */
function piecesOf(json: string): readonly string[] {
  const count = Math.ceil(json.length / PIECE_LENGTH);
  return Array.from({ length: count }, (_, at) => json.slice(at * PIECE_LENGTH, (at + 1) * PIECE_LENGTH));
}

const openAiArguments = (piece: string) => ({ function: { arguments: piece } });

/**
 * The events of OpenAI and of providers with the same API.
 *
 * @since 1.0
 */
export const openAi: Dialect = {
  protocol: 'openai',
  text: (content) => chunk({ delta: { content }, finish_reason: null }),
  reasoning: (text) => chunk({ delta: { content: '', reasoning_content: text }, finish_reason: null }),
  toolCall: ({ index, id, name, json }) =>
    [{ id, type: 'function', function: { name, arguments: '' } }, ...piecesOf(json).map(openAiArguments)]
      .map((piece) => chunk({ delta: { tool_calls: [{ index, ...piece }] }, finish_reason: null }))
      .join(''),
  finish: (reason) => chunk({ delta: {}, finish_reason: reason }),
  failure: (type, message) => `data: ${JSON.stringify({ error: { type, message } })}\n\n`,
  endMarker: 'data: [DONE]\n\n',
};

const typed = (body: { readonly type: string }) => `event: ${body.type}\ndata: ${JSON.stringify(body)}\n\n`;
const delta = (piece: object) => typed({ type: 'content_block_delta', ...{ index: 0, delta: piece } });

/**
 * The events of the Messages API of Anthropic.
 *
 * @since 1.0
 */
export const anthropic: Dialect = {
  protocol: 'anthropic',
  text: (text) => delta({ type: 'text_delta', text }),
  reasoning: (thinking) => delta({ type: 'thinking_delta', thinking }),
  toolCall: ({ index, id, name, json }) => {
    // The block of the text has the index 0.
    const at = { index: index + 1 };
    const start = { type: 'content_block_start', ...at, content_block: { type: 'tool_use', id, name, input: {} } };
    const pieces = piecesOf(json).map((piece) => ({
      ...{ type: 'content_block_delta', ...at },
      delta: { type: 'input_json_delta', partial_json: piece },
    }));
    return [start, ...pieces, { type: 'content_block_stop', ...at }].map(typed).join('');
  },
  finish: (reason) => typed({ type: 'message_delta', ...{ delta: { stop_reason: reason } } }),
  failure: (type, message) => typed({ type: 'error', ...{ error: { type, message } } }),
  endMarker: typed({ type: 'message_stop' }),
};

/** The item of the output with the text. The reasoning is the item before it, and the calls are the items after it. */
const TEXT_ITEM = { item_id: 'msg_1', output_index: 1, content_index: 0 };
const response = (status: string, members: object = {}) => ({
  response: { id: 'resp_1', object: 'response', status, output: [], ...members },
});

/**
 * The events of the Responses API of OpenAI.
 *
 * @since 1.0
 */
export const openAiResponses: Dialect = {
  protocol: 'openai-responses',
  text: (delta) => typed({ type: 'response.output_text.delta', ...TEXT_ITEM, ...{ delta } }),
  reasoning: (delta) =>
    typed({
      type: 'response.reasoning_summary_text.delta',
      ...{ item_id: 'rs_1', output_index: 0, summary_index: 0, delta },
    }),
  toolCall: ({ index, id, name, json }) => {
    const at = { output_index: index + 2 };
    const item = { id: `fc_${index}`, type: 'function_call', call_id: id, name };
    const ofItem = { ...at, item_id: item.id };
    return [
      { type: 'response.output_item.added', ...at, item: { ...item, arguments: '', status: 'in_progress' } },
      ...piecesOf(json).map((piece) => ({ type: 'response.function_call_arguments.delta', ...ofItem, delta: piece })),
      { type: 'response.function_call_arguments.done', ...ofItem, arguments: json },
      { type: 'response.output_item.done', ...at, item: { ...item, arguments: json, status: 'completed' } },
    ]
      .map(typed)
      .join('');
  },
  finish: (reason) => {
    const details = { length: 'max_output_tokens', content_filter: 'content_filter' }[reason];
    if (details === undefined) return typed({ type: 'response.completed', ...response('completed') });
    const incomplete = response('incomplete', { incomplete_details: { reason: details } });
    return typed({ type: 'response.incomplete', ...incomplete });
  },
  failure: (code, message) => typed({ type: 'response.failed', ...response('failed', { error: { code, message } }) }),
  endMarker: '',
};

const data = (body: object) => `data: ${JSON.stringify(body)}\r\n\r\n`;
const candidate = (members: object) => data({ candidates: [{ ...members, index: 0 }] });
const parts = (part: object) => candidate({ content: { role: 'model', parts: [part] } });

/**
 * The events of the Gemini API of Google.
 *
 * @since 1.0
 */
export const gemini: Dialect = {
  protocol: 'gemini',
  text: (text) => parts({ text }),
  reasoning: (text) => parts({ text, thought: true }),
  toolCall: ({ name, json }) => parts({ functionCall: { name, args: JSON.parse(json) as object } }),
  finish: (reason) => candidate({ finishReason: reason.toUpperCase() }),
  failure: (status, message) => data({ error: { status, message } }),
  endMarker: '',
};

const line = (body: object) => `${JSON.stringify({ model: 'acme-model', ...body })}\n`;
const message = (members: object) => line({ message: { role: 'assistant', content: '', ...members }, done: false });

/**
 * The lines of JSON of Ollama.
 *
 * @since 1.0
 */
export const ollama: Dialect = {
  protocol: 'ollama',
  text: (content) => message({ content }),
  reasoning: (thinking) => message({ thinking }),
  toolCall: ({ name, json }) =>
    message({ tool_calls: [{ function: { name, arguments: JSON.parse(json) as object } }] }),
  finish: (reason) => line({ message: { role: 'assistant', content: '' }, done: true, done_reason: reason }),
  failure: (_, error) => `${JSON.stringify({ error })}\n`,
  endMarker: '',
};
