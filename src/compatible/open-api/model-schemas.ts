import { z } from 'zod';

const OpenAiModel = z.object({
  id: z.string(),
  object: z.literal('model'),
  created: z.literal(0).describe('The service does not know the time.'),
  owned_by: z.string().describe('The display name of the provider.'),
  name: z.string().describe('The display name of the model.'),
  context_length: z.int().min(1).describe('The maximum number of tokens of a prompt and its answer.'),
});

const AnthropicModel = z.object({
  type: z.literal('model'),
  id: z.string(),
  display_name: z.string(),
  created_at: z.string().describe('Always the beginning of 1970: the service does not know the time.'),
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
