import { ChatClient, ChatError, type ChatFailure, type CompleteAnswer } from 'chat-streaming-service/client';

const client = new ChatClient({ baseUrl: 'https://chat.example', apiKey: 'csk_1', fetch, headers: { 'x-team': 'a' } });
const request = { model: 'acme/fast', messages: [{ role: 'user', content: 'Hello!' }] } as const;

export async function print(show: (text: string) => void, signal: AbortSignal): Promise<string> {
  const stream = client.stream(request, { signal, idempotencyKey: crypto.randomUUID() });
  for await (const text of stream) show(text.toUpperCase());
  const { state } = stream;
  // @ts-expect-error: only a complete answer has a text.
  if (state.text === '') return '';
  switch (state.status) {
    case 'waiting':
    case 'streaming':
      return '';
    case 'complete':
      return state.text;
    case 'stopped':
      return state.partialText;
    case 'failed':
      return state.error.message;
  }
}

export async function whole(): Promise<true> {
  const answer: CompleteAnswer = await client.complete({ ...request, temperature: 1, max_tokens: 10 });
  return answer.complete;
}

export function adviceOn(error: unknown): string {
  if (!(error instanceof ChatError)) return '';
  const failure: ChatFailure = error;
  switch (failure.kind) {
    case 'refused': {
      const status: number = failure.status;
      if (failure.code === 'rate_limit_exceeded')
        return `${String(status)}: wait ${String(failure.retryAfterSeconds)} s`;
      return failure.details?.map(({ field, message }) => `${field} ${message}`).join() ?? '';
    }
    case 'failed':
      return failure.code ?? '';
    case 'cut':
    case 'unreachable':
    case 'invalid':
      return failure.partialText ?? '';
  }
}

// @ts-expect-error: a request needs a model.
client.stream({ messages: [] });
// @ts-expect-error: there is no such role.
client.stream({ model: 'acme/fast', messages: [{ role: 'robot', content: '' }] });
// @ts-expect-error: the address is missing.
new ChatClient({ apiKey: 'csk_1' });
