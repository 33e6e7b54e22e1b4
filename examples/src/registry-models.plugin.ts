import { Inject, Injectable } from '@nestjs/common';
import { ChatPlugin, PLUGIN_CONFIG, type ModelDefinition, type ModelSource } from 'chat-streaming-service';
import { z } from 'zod';

const Config = z.strictObject({
  /** Where the company lists its models, as `{ "models": [...] }` in the form of CONFIG_FILE. Without it, there are none. */
  url: z.url().optional(),
  refresh_seconds: z.int().min(1).default(60),
});

/** Models from a registry of the company. The service checks them, and keeps the last ones while the registry fails. */
@Injectable()
export class RegistryModels implements ModelSource {
  readonly refreshSeconds: number;

  constructor(@Inject(PLUGIN_CONFIG) private readonly config: z.infer<typeof Config>) {
    this.refreshSeconds = config.refresh_seconds;
  }

  async models(signal: AbortSignal): Promise<readonly ModelDefinition[]> {
    if (this.config.url === undefined) return [];
    const response = await fetch(this.config.url, { signal });
    if (!response.ok) throw new Error(`The registry answered ${response.status}.`);
    return ((await response.json()) as { models: ModelDefinition[] }).models;
  }
}

@ChatPlugin({ name: 'registry', compatibility: '^1', config: Config, modelSources: [RegistryModels] })
export class RegistryPlugin {}
