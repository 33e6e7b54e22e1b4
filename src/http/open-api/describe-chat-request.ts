import type { OpenAPIObject } from '@nestjs/swagger';

/** Closes the request for unknown members, and gives "Try it out" a request that works with the models of this service. */
export function describeChatRequest(document: OpenAPIObject, model = 'vendor/model'): void {
  const { ChatRequest, ChatRequestMessage } = document.components?.schemas ?? {};
  if (ChatRequest === undefined || ChatRequestMessage === undefined) return;
  const example = { model, messages: [{ role: 'user', content: 'Hello!' }] };
  Object.assign(ChatRequest, { additionalProperties: false, example });
  Object.assign(ChatRequestMessage, { additionalProperties: false });
}
