import type { Config, ModelConfig, PriceConfig, RouteConfig, TokenPrices, UpstreamConfig } from './config.js';
import { Model, type PriceEntry } from './sources/config-file.js';
import type { z } from 'zod';

/** Converts a price of CONFIG_FILE. `undefined`: the file gives no price. */
function priceOf(entry: PriceEntry | undefined, currency: string): PriceConfig | undefined {
  if (entry === undefined) return undefined;
  const { long_input: long } = entry;
  return {
    ...pricesOf(entry),
    currency,
    longInput: long && { ...pricesOf(long), aboveInputTokens: long.above_input_tokens },
  };
}

function pricesOf(entry: Omit<PriceEntry, 'long_input'>): TokenPrices {
  return {
    inputPerMillion: entry.input_per_million,
    cachedInputPerMillion: entry.cached_input_per_million,
    cacheWriteInputPerMillion: entry.cache_write_input_per_million,
    outputPerMillion: entry.output_per_million,
    reasoningOutputPerMillion: entry.reasoning_output_per_million,
  };
}

/** Returns one line per problem, with the path and the reason. The lines never contain the invalid value. */
export function zodProblems(error: z.ZodError, where: string[] = []): string[] {
  return error.issues.map((issue) => {
    const path = [...where, ...issue.path.map(String)].join('.');
    return `${path || 'the file'}: ${issue.message}`;
  });
}

/**
 * A model as CONFIG_FILE describes it.
 *
 * @experimental
 * @since 1.0
 */
export type ModelDefinition = (typeof Model)['_input'];
type ModelEntry = (typeof Model)['_output'];

/**
 * Converts the entry of a model. Leaves out routes whose upstream is not configured.
 *
 * @param fill returns the name of a model at an upstream, with its variables. `undefined`: a variable is unset.
 * @returns `undefined` when no route is left.
 */
export function modelOf(
  entry: ModelEntry,
  upstreams: ReadonlyMap<string, UpstreamConfig>,
  currency: string,
  fill: (template: string) => string | undefined,
): ModelConfig | undefined {
  const [first, ...others] = entry.routes.flatMap((route, index): RouteConfig[] => {
    const upstream = upstreams.get(route.upstream);
    const model = fill(route.model);
    if (upstream === undefined || model === undefined) return [];
    const { temperature, unsupported_options: unsupported, priority = index + 1, weight } = route;
    const unsupportedOptions = temperature ? unsupported : [...unsupported, 'temperature' as const];
    return [{ upstream, model, unsupportedOptions, priority, weight, price: priceOf(route.price, currency) }];
  });
  if (first === undefined) return undefined;
  return {
    id: entry.id,
    aliases: entry.aliases,
    name: entry.name,
    provider: entry.provider,
    contextLength: entry.context_length,
    maxOutputTokens: entry.max_output_tokens,
    price: priceOf(entry.price, currency),
    capabilities: entry.capabilities,
    thinking: entry.thinking,
    sticky: entry.sticky,
    routes: [first, ...others],
  };
}

/**
 * Checks and converts a model that comes from another place than CONFIG_FILE.
 *
 * @returns the model, or why there is none.
 */
export function modelFrom(
  definition: unknown,
  { upstreams, currency }: Pick<Config, 'upstreams' | 'currency'>,
): ModelConfig | string {
  const { success, data, error } = Model.safeParse(definition);
  if (!success) return zodProblems(error, []).join('; ');
  return modelOf(data, upstreams, currency, (name) => name) ?? 'none of its upstreams is configured';
}
