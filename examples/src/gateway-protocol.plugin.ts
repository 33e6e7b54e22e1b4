import {
  ChatPlugin,
  isText,
  OpenAiProtocol,
  parseJsonObject,
  providerFailure,
  type AnswerReader,
  type CallContext,
  type ChatCall,
  type HttpProtocol,
  type ProviderFailure,
  type UpstreamConfig,
  type UpstreamRequest,
} from 'chat-streaming-service';
import { z } from 'zod';

const Options = z.strictObject({
  /** Where the gateway gives out tokens. */
  token_url: z.url(),
  /** How long the service uses a token, in seconds. */
  token_seconds: z.int().min(1).default(600),
});
type GatewayOptions = z.infer<typeof Options>;

interface Token {
  readonly value: string;
  readonly expiresAt: number;
}

/** The protocol of OpenAI behind a gateway of the company. The gateway gives out a short-lived token for the API key. */
export class GatewayProtocol implements HttpProtocol<GatewayOptions> {
  readonly transport = 'http';
  readonly name = 'gateway';
  readonly options = Options;
  private readonly openAi = new OpenAiProtocol();
  /** Images, tools and all else that the protocol of OpenAI maps. */
  readonly capabilities = this.openAi.capabilities;
  readonly generationOptions = this.openAi.generationOptions;
  /** The tokens by upstream. */
  private readonly tokens = new Map<string, Token>();

  async request(
    call: ChatCall,
    upstream: UpstreamConfig<GatewayOptions>,
    context: CallContext,
  ): Promise<UpstreamRequest> {
    const request = this.openAi.request(call, upstream);
    const token = await this.token(upstream, context);
    return { ...request, headers: { ...request.headers, authorization: `Bearer ${token}` } };
  }

  open(call: ChatCall, upstream: UpstreamConfig<GatewayOptions>): AnswerReader {
    return this.openAi.open(call, upstream);
  }

  /** The gateway answers 403 to an invalid token. No model of the upstream can answer then. */
  failure(status: number): ProviderFailure | undefined {
    if (status !== 403) return undefined;
    return providerFailure('upstream_error', 'The gateway refuses the token.', { scope: 'upstream' });
  }

  private async token({ name, apiKey = '', options }: UpstreamConfig<GatewayOptions>, context: CallContext) {
    const known = this.tokens.get(name);
    if (known !== undefined && known.expiresAt > Date.now()) return known.value;
    const headers = { 'x-api-key': apiKey };
    const response = await context.fetch(options.token_url, { method: 'POST', headers }).catch(() => undefined);
    const body = response?.ok === true ? parseJsonObject(await response.text()) : undefined;
    if (!isText(body?.token)) {
      throw providerFailure('upstream_error', 'The gateway gives out no token.', { scope: 'upstream' });
    }
    this.tokens.set(name, { value: body.token, expiresAt: Date.now() + options.token_seconds * 1_000 });
    return body.token;
  }
}

@ChatPlugin({ name: 'gateway', compatibility: '^1', protocols: [GatewayProtocol] })
export class GatewayPlugin {}
