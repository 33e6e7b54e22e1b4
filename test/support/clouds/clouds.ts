import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { anthropic, gemini } from '../../../src/testing/provider/dialects.js';
import type { ProviderCall } from '../../../src/testing/provider/provider-call.js';
import { ScriptedProvider } from '../../../src/testing/provider/scripted-provider.js';
import { converseAnswer } from './converse-stream.js';
import { IdentityServer } from './identity-server.js';
import { signatureProblem } from './sigv4-verifier.js';

export const CLOUD_MODEL = 'company/assistant';
export const EVENT_STREAM = { 'content-type': 'application/vnd.amazon.eventstream' };
export const PROFILE = 'eu.anthropic.claude-haiku-4-5-20251001-v1:0';
export const ARN = 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2';

const EU = 'eu-central-1';
const US = 'us-east-1';

/** Servers in place of Bedrock in two regions, Vertex AI and Azure, which check the identity of each request, and one model over all. */
export class Clouds {
  /** What the service needs to find its identities. */
  readonly env: Readonly<Record<string, string>>;

  private constructor(
    readonly identity: IdentityServer,
    readonly eu: ScriptedProvider,
    readonly us: ScriptedProvider,
    readonly claude: ScriptedProvider,
    readonly vertex: ScriptedProvider,
    readonly azure: ScriptedProvider,
    private readonly folder: string,
  ) {
    this.env = {
      AWS_EC2_METADATA_DISABLED: 'true',
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${identity.origin}/container`,
      GOOGLE_APPLICATION_CREDENTIALS: this.keyFile(),
      ...{ AZURE_TENANT_ID: 't', AZURE_CLIENT_ID: 'c', AZURE_CLIENT_SECRET: 's3cret' },
      AZURE_AUTHORITY_HOST: identity.origin,
    };
    this.answer();
  }

  static async start(): Promise<Clouds> {
    const identity = await IdentityServer.start();
    const dialects = [undefined, undefined, anthropic, gemini, undefined];
    const [eu, us, claude, vertex, azure] = (await Promise.all(
      dialects.map((dialect) => ScriptedProvider.start(dialect)),
    )) as [ScriptedProvider, ScriptedProvider, ScriptedProvider, ScriptedProvider, ScriptedProvider];
    return new Clouds(identity, eu, us, claude, vertex, azure, mkdtempSync(join(tmpdir(), 'chat-clouds-')));
  }

  /** In the order of the routes. */
  get providers(): readonly ScriptedProvider[] {
    return [this.eu, this.us, this.claude, this.vertex, this.azure];
  }

  /** The upstreams and the model, in the format of CONFIG_FILE. */
  get catalog() {
    const { eu, us, claude, vertex, azure } = this;
    const bedrock = ({ origin }: ScriptedProvider, region: string) => ({
      ...{ protocol: 'bedrock', base_url: origin, options: { region } },
      credentials: { kind: 'aws', region },
    });
    const google = { credentials: { kind: 'google' }, options: { project: 'p-1', location: 'eu' } };
    return {
      upstreams: {
        'bedrock-eu': bedrock(eu, EU),
        'bedrock-us': bedrock(us, US),
        'vertex-claude': { protocol: 'anthropic', base_url: claude.origin, ...google },
        vertex: { protocol: 'gemini', base_url: vertex.origin, ...google },
        azure: { protocol: 'openai', base_url: `${azure.origin}/openai/v1`, credentials: { kind: 'azure' } },
      },
      models: [
        {
          ...{ id: CLOUD_MODEL, name: 'Assistant', provider: 'Company', context_length: 200_000 },
          routes: [
            { upstream: 'bedrock-eu', model: PROFILE },
            { upstream: 'bedrock-us', model: ARN },
            { upstream: 'vertex-claude', model: 'claude-haiku-4-5@20251001' },
            { upstream: 'vertex', model: 'gemini-3' },
            { upstream: 'azure', model: 'my-deployment' },
          ],
        },
      ],
    };
  }

  /** Lets each server answer with its name, and forgets the calls. */
  answer(): void {
    this.eu.answers(this.bedrock(EU));
    this.us.answers(this.bedrock(US));
    this.claude.answers(this.withToken('Hello from Claude'));
    this.vertex.answers(this.withToken('Hello from Gemini'));
    this.azure.answers(this.withToken('Hello from Azure'));
    for (const provider of this.providers) provider.calls.length = 0;
  }

  /** Answers requests with the right signature. */
  bedrock(region: string, bytes = converseAnswer([[{ text: `Hello from ${region}` }]])) {
    return (call: ProviderCall): void => {
      const { method, path, headers, body } = call;
      const sessionToken = headers['x-amz-security-token'] as string;
      const key = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret-of-aws', sessionToken };
      const problem = signatureProblem({ method, path, headers, body }, { ...key, region, service: 'bedrock' });
      if (problem !== undefined || !this.identity.isValid(sessionToken))
        call.refuse(403, { 'x-amzn-errortype': 'InvalidSignatureException' }, JSON.stringify({ message: problem }));
      else call.head(200, EVENT_STREAM).write(bytes).end();
    };
  }

  async stop(): Promise<void> {
    await Promise.all([this.identity, ...this.providers].map((server) => server.stop()));
    rmSync(this.folder, { recursive: true });
  }

  /** Answers requests with a token that the identity server has given out. */
  private withToken(text: string) {
    return (call: ProviderCall): void => {
      if (this.identity.isValid(call.headers.authorization?.replace('Bearer ', ''))) call.answer(text);
      else call.refuse(401);
    };
  }

  private keyFile(): string {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    const file = join(this.folder, 'key.json');
    const key = {
      ...{ type: 'service_account', client_email: 'chat@p-1.iam.gserviceaccount.com' },
      private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
      token_uri: `${this.identity.origin}/token`,
    };
    writeFileSync(file, JSON.stringify(key));
    return file;
  }
}

/** Requests of the four surfaces for the model. */
export const CLOUD_REQUESTS: readonly (readonly [path: string, body: object])[] = (
  [
    ['chat/stream', { messages: [{ role: 'user', content: 'Hello!' }] }],
    ['chat/completions', { messages: [{ role: 'user', content: 'Hello!' }], stream: true }],
    ['responses', { input: 'Hello!', stream: true, messages: undefined }],
    ['messages', { messages: [{ role: 'user', content: 'Hello!' }], max_tokens: 100, stream: true }],
  ] as const
).map(([path, body]) => [`/api/v1/${path}`, { model: CLOUD_MODEL, ...body }]);
