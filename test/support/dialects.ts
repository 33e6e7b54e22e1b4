/** The event format of a provider: each method returns the text of the events for one part of an answer. */
export interface Dialect {
  text(text: string): string;
  reasoning(text: string): string;
  finish(reason: string): string;
  failure(type: string, message: string): string;
  readonly endMarker: string;
}

const chunk = (choice: object) =>
  `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', choices: [{ index: 0, ...choice }] })}\n\n`;

export const openAi: Dialect = {
  text: (content) => chunk({ delta: { content }, finish_reason: null }),
  reasoning: (text) => chunk({ delta: { content: '', reasoning_content: text }, finish_reason: null }),
  finish: (reason) => chunk({ delta: {}, finish_reason: reason }),
  failure: (type, message) => `data: ${JSON.stringify({ error: { type, message } })}\n\n`,
  endMarker: 'data: [DONE]\n\n',
};

const typed = (body: { readonly type: string }) => `event: ${body.type}\ndata: ${JSON.stringify(body)}\n\n`;
const delta = (piece: object) => typed({ type: 'content_block_delta', ...{ index: 0, delta: piece } });

export const anthropic: Dialect = {
  text: (text) => delta({ type: 'text_delta', text }),
  reasoning: (thinking) => delta({ type: 'thinking_delta', thinking }),
  finish: (reason) => typed({ type: 'message_delta', ...{ delta: { stop_reason: reason } } }),
  failure: (type, message) => typed({ type: 'error', ...{ error: { type, message } } }),
  endMarker: typed({ type: 'message_stop' }),
};
