import type { OpenAPIObject } from '@nestjs/swagger';

/** Gives "Try it out" a request that works with the models of this service. */
export function describeExample(document: OpenAPIObject, model = 'vendor/model'): void {
  const schema = document.components?.schemas?.['ChatRequest'];
  if (schema === undefined) return;
  Object.assign(schema, { example: { model, messages: [{ role: 'user', content: 'Hello!' }] } });
}
