import { createServer, type IncomingMessage, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { PLUGINS } from '../../../examples/src/plugins.js';
import { ScriptedProvider } from '../../../src/testing/provider/scripted-provider.js';
import { startService, type RunningService, type ServiceOptions } from '../../support/service.js';

export const EMAIL = 'ada@example.com';
export const JWT_SECRET = 'the secret of the company';

/** A server of the company: its registry of models, and the webhook that gets its usage records. */
export class CompanyServer {
  readonly records: { readonly request_id: string }[] = [];
  models: readonly object[] = [];

  private constructor(private readonly server: Server) {
    server.on('request', (request: IncomingMessage, response) => {
      void text(request).then((body) => {
        if (request.url === '/models') {
          response.end(JSON.stringify({ models: this.models }));
          return;
        }
        this.records.push(...(JSON.parse(body) as { records: { request_id: string }[] }).records);
        response.end();
      });
    });
  }

  static async start(): Promise<CompanyServer> {
    const server = createServer();
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return new CompanyServer(server);
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}

/** The service with all examples, and everything that they talk to. */
export class ExamplesStage {
  private constructor(
    readonly service: RunningService,
    readonly provider: ScriptedProvider,
    readonly company: CompanyServer,
    readonly key: string,
  ) {}

  static async set(options: ServiceOptions = {}): Promise<ExamplesStage> {
    const provider = await ScriptedProvider.start();
    const company = await CompanyServer.start();
    const at = { base_url: `${provider.origin}/v2`, api_key: 'secret' };
    const model = { name: 'A model', provider: 'Acme', context_length: 8192 };
    const names = ['openai', 'acme', 'lines', 'jobs'];
    const service = await startService({
      upstreams: {
        ...Object.fromEntries(names.map((name) => [name, { protocol: name, ...at }])),
        echo: { protocol: 'echo' },
      },
      models: [
        ...[...names, 'echo'].map((name) => ({
          ...model,
          id: `${name}/one`,
          routes: [{ upstream: name, model: 'one' }],
        })),
        { ...model, id: 'echo/limited', routes: [{ upstream: 'echo', model: 'one' }] },
      ],
      tiers: {
        free: { requests_per_minute: 1_000, concurrent_streams: 10, tokens_per_day: 1_000_000 },
        red: { plugins: { 'team-limits': { requests_per_minute: 2 } } },
      },
      pluginConfigs: {
        jwt: { secret: JWT_SECRET },
        guardrail: { words: ['forbidden'] },
        summaries: { model: 'openai/one' },
        translator: { model: 'openai/one' },
        digests: { model: 'openai/one' },
        'model-limits': { requests_per_minute: { 'echo/limited': 2 } },
        'monthly-budget': { tokens_per_month: { free: 1_000_000 } },
        webhook: { url: `${company.origin}/webhook` },
        registry: { url: `${company.origin}/models`, refresh_seconds: 1 },
      },
      plugins: PLUGINS,
      ...options,
    });
    const { key } = await service.createKey({ email: EMAIL });
    return new ExamplesStage(service, provider, company, key);
  }

  get origin(): string {
    return this.service.origin;
  }

  async clear(): Promise<void> {
    await this.service.stop();
    await this.provider.stop();
    this.company.stop();
  }
}
