import { Inject, Injectable } from '@nestjs/common';
import { ChatPlugin, PLUGIN_CONFIG, type AccountLimits, type LimitedCall } from 'chat-streaming-service';
import { z } from 'zod';

const Config = z.strictObject({
  /** The requests that each account may send per minute to a model, by model id. Other models have no such limit. */
  requests_per_minute: z.record(z.string(), z.int().min(0)).default({}),
});

/** A limit for each expensive model, in addition to the limits of the tier. */
@Injectable()
export class ModelLimits implements AccountLimits {
  constructor(@Inject(PLUGIN_CONFIG) private readonly config: z.infer<typeof Config>) {}

  limitsOf({ model = '' }: LimitedCall) {
    const max = this.config.requests_per_minute[model];
    if (max === undefined) return [];
    const label = `requests per minute to ${model}`;
    const shown = { label, header: 'Model' };
    return [{ name: 'model-limits-rate', key: model, unit: 'requests', window: 'minute', max, ...shown } as const];
  }
}

@ChatPlugin({ name: 'model-limits', compatibility: '^1', config: Config, limits: [ModelLimits] })
export class ModelLimitsPlugin {}
