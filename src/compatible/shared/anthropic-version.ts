/** The header that every client of Anthropic sends, for the OpenAPI document. */
export const ANTHROPIC_VERSION = {
  name: 'anthropic-version',
  required: false,
  schema: { type: 'string' as const, example: '2023-06-01' },
};
