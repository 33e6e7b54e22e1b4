import { EventSourceParserStream } from 'eventsource-parser/stream';
import createClient from 'openapi-fetch';
import type { components, paths } from 'served-api';

type Schemas = components['schemas'];

/** Yields the text as it arrives, and throws if the answer is not complete. */
export async function* streamedText(
  baseUrl: string,
  key: string,
  body: Schemas['ChatRequest'],
): AsyncGenerator<string> {
  const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } });
  const { data, error } = await client.POST('/api/v1/chat/stream', { body, parseAs: 'stream' });
  if (error !== undefined) throw new Error(`${error.error.code}: ${error.error.message}`);
  const texts = (data as ReadableStream).pipeThrough(new TextDecoderStream());
  for await (const event of texts.pipeThrough(new EventSourceParserStream())) {
    const chunk = JSON.parse(event.data) as Schemas['Chunk'];
    if (chunk.error !== undefined) throw new Error(`${chunk.error.code}: ${chunk.error.message}`);
    if (chunk.done) return;
    yield chunk.content;
  }
  throw new Error('The connection broke before the end of the answer.');
}
