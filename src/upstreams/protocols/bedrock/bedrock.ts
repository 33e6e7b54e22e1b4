import { z } from 'zod';
import type { UpstreamConfig } from '../../../platform/config/config.js';
import type { ChatCall } from '../../contract/chat-call.js';
import type { AnswerReader, HttpProtocol, ResponseHeaders, UpstreamRequest } from '../../contract/protocol.js';
import type { ProviderFailure } from '../../contract/provider-failure.js';
import { awsEventStream } from '../../transport/aws-event-stream.js';
import { endpoint, streamHeaders } from '../shared/endpoint.js';
import { JsonRequestProtocol } from '../shared/json-request.js';
import { optionMembers } from '../shared/option-members.js';
import { bedrockHttpFailure } from './bedrock-failure.js';
import { ConverseReader } from './converse-event.js';
import { outputConfig, thinkingOf, toolConfig } from './converse-features.js';
import { conversePrompt } from './converse-messages.js';

const Options = z.strictObject({
  /** The region of the endpoint. By default that of the credentials. */
  region: z
    .string()
    .regex(/^[a-z0-9-]{1,40}$/, 'must be the name of a region, such as us-east-1')
    .optional(),
  /** The guardrail that checks each request and each answer. */
  guardrail: z.strictObject({ id: z.string().min(1), version: z.string().min(1) }).optional(),
  /** Whether long prompts are marked for the prompt cache. Only some models take marks. */
  prompt_caching: z.boolean().default(false),
});
export type BedrockOptions = z.infer<typeof Options>;

/** Implements `ConverseStream` of Amazon Bedrock, the one interface for all of its models. */
export class BedrockProtocol extends JsonRequestProtocol<BedrockOptions> implements HttpProtocol<BedrockOptions> {
  readonly transport = 'http';
  readonly name = 'bedrock';
  readonly options = Options;
  readonly framing = awsEventStream;
  readonly generationOptions = { temperature: 'temperature', top_p: 'topP', stop: 'stopSequences' } as const;
  readonly capabilities = ['images', 'tools', 'structured_output', 'reasoning'] as const;

  baseUrl({ options, credentials }: UpstreamConfig<BedrockOptions>): URL | undefined {
    const region = options.region ?? credentials?.options.region;
    if (typeof region !== 'string') return undefined;
    return new URL(`https://bedrock-runtime.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`);
  }

  protected override target(call: ChatCall, upstream: UpstreamConfig<BedrockOptions>): Omit<UpstreamRequest, 'body'> {
    const { apiKey } = upstream;
    const credential = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
    return {
      // The id of a model can be an ARN. With a slash of an ARN in the path, Bedrock answers 200 and `UnknownOperationException`.
      url: endpoint(upstream, `/model/${encodeURIComponent(call.model)}/converse-stream`),
      headers: streamHeaders({ accept: 'application/vnd.amazon.eventstream', ...credential }, upstream),
    };
  }

  protected override json(call: ChatCall, { options }: UpstreamConfig<BedrockOptions>): object {
    const prompt = conversePrompt(call, options.prompt_caching);
    const thinking = thinkingOf(call, prompt.turns);
    const inference = {
      maxTokens: call.maxTokens,
      ...optionMembers(call.options, this.generationOptions),
      ...thinking?.inference,
    };
    return {
      system: prompt.system,
      messages: prompt.messages,
      inferenceConfig: inference,
      toolConfig: toolConfig(call, prompt),
      outputConfig: outputConfig(call),
      additionalModelRequestFields: thinking?.fields,
      guardrailConfig: options.guardrail && {
        guardrailIdentifier: options.guardrail.id,
        guardrailVersion: options.guardrail.version,
      },
    };
  }

  open(): AnswerReader {
    return new ConverseReader();
  }

  failure(status: number, headers: ResponseHeaders, body: string): ProviderFailure | undefined {
    return bedrockHttpFailure(status, headers, body);
  }
}
