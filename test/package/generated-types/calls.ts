import createClient from 'openapi-fetch';
import type { components, operations, paths } from 'served-api';

type Chunk = components['schemas']['Chunk'];
type ErrorCode = components['schemas']['ErrorReport']['code'];
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Answers<Id extends keyof operations> = operations[Id]['responses'];

/** Compiles only if the two types are the same. */
const same = <A, B>(equal: Equal<A, B>): boolean => equal;

export { streamedText } from './streamed-text.js';

const request = { model: 'acme/fast', messages: [{ role: 'user' as const, content: 'Hello!' }] };

/** Returns the error code of a request to an unknown model, and the ids of the models that exist. */
export async function refused(origin: string, key: string): Promise<[ErrorCode | undefined, string[] | undefined]> {
  const client = createClient<paths>({ baseUrl: origin, headers: { Authorization: `Bearer ${key}` } });
  const { error } = await client.POST('/api/v1/chat/stream', {
    body: { ...request, model: 'acme/other', temperature: 1, max_tokens: 10 },
    params: { header: { 'Idempotency-Key': 'a' } },
  });
  const { data } = await client.GET('/api/v1/chat/models');
  return [error?.error.code, data?.models.map(({ id }) => id)];
}

export const MINIMAL: components['schemas']['ChatRequest'] = request;
// @ts-expect-error: the service refuses unknown members.
export const COLORED: components['schemas']['ChatRequest'] = { ...request, color: 'red' };

/** Never called: the types are the test. */
export function wrongCalls(): void {
  const client = createClient<paths>();
  // @ts-expect-error: a request needs messages.
  void client.POST('/api/v1/chat/stream', { body: { model: 'acme/fast' } });
  // @ts-expect-error: a request needs a model.
  void client.POST('/api/v1/chat/stream', { body: { messages: request.messages } });
  // @ts-expect-error: a request needs a body.
  void client.POST('/api/v1/chat/stream', {});
  // @ts-expect-error: there is no such role.
  void client.POST('/api/v1/chat/stream', { body: { ...request, messages: [{ role: 'robot', content: '' }] } });
  // @ts-expect-error: the temperature is a number.
  void client.POST('/api/v1/chat/stream', { body: { ...request, temperature: '1' } });
  // @ts-expect-error: the receipt has a request id in its path.
  void client.GET('/api/v1/usage/streams/{request_id}');
  // @ts-expect-error: the list is only read.
  void client.DELETE('/api/v1/chat/models');
}

export const FACTS: boolean[] = [
  same<
    keyof operations,
    | 'cancelStream'
    | 'countMessageTokens'
    | 'createAccount'
    | 'createChatCompletion'
    | 'createInvitation'
    | 'createKey'
    | 'createMessage'
    | 'createPasswordReset'
    | 'createResponse'
    | 'deleteAccount'
    | 'endSessions'
    | 'getAccount'
    | 'getCompatibleModel'
    | 'getHealth'
    | 'getKey'
    | 'getReadiness'
    | 'getReceipt'
    | 'getUsage'
    | 'listAccounts'
    | 'listAuditEntries'
    | 'listCompatibleModels'
    | 'listInvitations'
    | 'listKeys'
    | 'listModels'
    | 'listOperatorKeys'
    | 'listUsage'
    | 'prepareSingleSignOn'
    | 'readStream'
    | 'reportLeakedKeys'
    | 'revokeInvitation'
    | 'revokeKey'
    | 'revokeOperatorKey'
    | 'revokePasswordReset'
    | 'rotateKey'
    | 'setPassword'
    | 'streamChat'
    | 'updateAccount'
    | 'updateKey'
  >(true),
  same<Answers<'streamChat'>[200]['content'], { 'text/event-stream': string }>(true),
  same<Answers<'readStream'>[200]['content'], { 'text/event-stream': string }>(true),
  same<Chunk['error'], components['schemas']['ChunkError'] | undefined>(true),
  same<Answers<'streamChat'>[429]['content'], { 'application/json': components['schemas']['ErrorBody'] }>(true),
  same<Answers<'streamChat'>[429]['headers']['Retry-After'], number | undefined>(true),
  same<Answers<'streamChat'>[401]['headers']['WWW-Authenticate'], string | undefined>(true),
  same<Answers<'streamChat'>[200]['headers']['X-RateLimit-Remaining'], number | undefined>(true),
  same<Answers<'streamChat'>[200]['headers']['X-Stream-Id'], string | undefined>(true),
  same<Answers<'getUsage'>[200]['headers']['X-RateLimit-Reset'], number | undefined>(true),
  same<Answers<'listModels'>[200]['headers']['ETag'], string | undefined>(true),
  same<Answers<'cancelStream'>[204]['headers']['X-Request-Id'], string | undefined>(true),
  same<Answers<'getHealth'>[200]['headers']['X-Request-Id'], string | undefined>(true),
  same<Answers<'getReceipt'>[500]['content'], { 'application/json': components['schemas']['ErrorBody'] }>(true),
  same<components['schemas']['StreamReceipt']['cost'], number | null>(true),
];
