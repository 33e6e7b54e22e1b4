import { GENERATION_OPTIONS, type GenerationOptions } from '../../config/generation-options.js';

/** The default, unless the request has `top_p`: providers advise against both, and some refuse both. */
export const DEFAULT_TEMPERATURE = 0.7;

/** Returns the generation options of a request, with the default of the temperature. */
export function requestedOptions(request: GenerationOptions): GenerationOptions {
  const given = GENERATION_OPTIONS.filter((option) => request[option] !== undefined);
  const options: GenerationOptions = Object.fromEntries(given.map((option) => [option, request[option]]));
  if (options.temperature !== undefined || options.top_p !== undefined) return options;
  return { ...options, temperature: DEFAULT_TEMPERATURE };
}
