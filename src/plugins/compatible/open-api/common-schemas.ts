import { z } from 'zod';

/** Schemas that describe the answers of several surfaces in the OpenAPI document. */

/** An object whose members the service passes on, such as a JSON Schema. */
export const anyObject = z.looseObject({});
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
