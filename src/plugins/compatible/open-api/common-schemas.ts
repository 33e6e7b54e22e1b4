import { z } from 'zod';
import { DETAILS } from '../shared/body-fields.js';

/** Schemas that describe the bodies of several surfaces in the OpenAPI document. */

export const MODEL = z.string().min(1).describe('The id of a model, or an alias. `GET models` lists the ids.');
export const temperature = z
  .number()
  .min(0)
  .max(2)
  .nullish()
  .describe('The sampling temperature. The default is 0.7. With `top_p`, there is no default.');
export const topP = z.number().min(0).max(1).nullish().describe('The probability mass of the tokens to sample from.');
export const penalty = (of: string) => z.number().min(-2).max(2).nullish().describe(`Penalizes ${of}.`);
export const isStream = z.boolean().nullish().describe('Whether the answer is a stream of server-sent events.');
export const isParallel = z.boolean().nullish().describe('Whether an answer may have several tool calls.');

/** An object whose members the service passes on, such as a JSON Schema. */
export const anyObject = z.looseObject({});
export const toolName = z.string().regex(/^[\w-]{1,64}$/);
export const toolParameters = anyObject.nullish().describe('The JSON Schema of the arguments.');
export const imageDetail = z.enum(DETAILS).nullish();

export const tokens = z.int().min(0);
export const seconds = z.int().min(0).describe('Seconds since 1970.');

/** The body of an error response in the format of OpenAI, and the data of an event that ends a failed stream. */
export const OpenAiErrorBody = z.object({
  error: z.object({
    message: z.string(),
    type: z.enum([
      'invalid_request_error',
      'authentication_error',
      'permission_error',
      'rate_limit_error',
      'server_error',
    ]),
    param: z.string().nullable().describe('The path of the first invalid member of the body.'),
    code: z
      .string()
      .describe(
        'The code of the HTTP API, or `invalid_api_key`, `insufficient_quota` or `context_length_exceeded`, which clients know.',
      ),
  }),
});

/** The body of an error response in the format of Anthropic, and the data of `event: error`. */
export const AnthropicErrorBody = z.object({
  type: z.literal('error'),
  error: z.object({
    type: z.enum([
      'invalid_request_error',
      'authentication_error',
      'permission_error',
      'not_found_error',
      'request_too_large',
      'rate_limit_error',
      'api_error',
      'overloaded_error',
      'timeout_error',
    ]),
    message: z.string(),
  }),
  request_id: z.string(),
});
