import { z } from 'zod';
import { CAPABILITIES } from '../../../platform/config/capabilities.js';

const OpenAiModel = z.object({
  id: z.string(),
  object: z.literal('model'),
  created: z.literal(0).describe('The service does not know the time.'),
  owned_by: z.string().describe('The display name of the provider.'),
  name: z.string().describe('The display name of the model.'),
  context_length: z.int().min(1).describe('The maximum number of tokens of a prompt and its answer.'),
  max_output_tokens: z.int().min(1).nullable().describe('The maximum number of tokens of an answer, if known.'),
  capabilities: z.array(z.enum(CAPABILITIES)).describe('What the model can take besides texts.'),
});

const Supported = z.looseObject({ supported: z.boolean() });

const AnthropicModel = z.object({
  type: z.literal('model'),
  id: z.string(),
  display_name: z.string(),
  created_at: z.string().describe('Always the beginning of 1970: the service does not know the time.'),
  max_input_tokens: z.int().min(1).describe('The maximum number of tokens of a prompt and its answer.'),
  max_tokens: z.int().min(1).nullable().describe('The maximum number of tokens of an answer, if known.'),
  capabilities: z.object({}).catchall(Supported).describe('What the model can take besides texts.'),
});

export const MODEL_SCHEMAS = {
  OpenAiModel,
  AnthropicModel,
  OpenAiModelList: z.object({ object: z.literal('list'), data: z.array(OpenAiModel) }),
  AnthropicModelList: z.object({
    data: z.array(AnthropicModel),
    has_more: z.literal(false),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
  }),
};
