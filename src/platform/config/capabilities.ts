/**
 * What a conversation can have besides texts. A protocol and a model have the same kinds of capabilities: a request goes to a
 * route only if both can take the request.
 *
 * - `images`: images in messages of the user and in results of tools.
 * - `tools`: tools, tool calls and their results.
 * - `structured_output`: the response formats `json` and `json_schema`.
 * - `reasoning`: an effort or a budget for the reasoning. The reasoning of an answer needs no capability.
 */
export type Capability = 'images' | 'tools' | 'structured_output' | 'reasoning';

const CAPABILITY_NAMES: Readonly<Record<Capability, true>> = {
  images: true,
  tools: true,
  structured_output: true,
  reasoning: true,
};

/** The names of all capabilities. */
export const CAPABILITIES = Object.keys(CAPABILITY_NAMES) as readonly Capability[];

/**
 * How a model takes an effort of reasoning.
 *
 * - `budget`: as a number of tokens.
 * - `adaptive`: the model decides, and the effort guides it. It takes neither a budget nor sampling options.
 * - `levels`: as a named level.
 * - `switch`: only on or off.
 */
export type ThinkingKind = 'budget' | 'adaptive' | 'levels' | 'switch';

/** The names of all kinds. */
export const THINKING_KINDS = ['budget', 'adaptive', 'levels', 'switch'] as const satisfies readonly ThinkingKind[];

/**
 * The generation options of a request, with the names of the HTTP API. They pass from the body to the protocol of the provider
 * as one object. An option that is left out, or `undefined`, is the decision of the provider.
 *
 * @since 1.0
 */
export interface GenerationOptions {
  /** From 0 to 2. */
  readonly temperature?: number | undefined;
  /** From 0 to 1. */
  readonly top_p?: number | undefined;
  /** Texts that end the answer. They are not part of the answer. */
  readonly stop?: readonly string[] | undefined;
  /** A signed integer of 32 bits. */
  readonly seed?: number | undefined;
  /** From -2 to 2. */
  readonly presence_penalty?: number | undefined;
  /** From -2 to 2. */
  readonly frequency_penalty?: number | undefined;
}

export type GenerationOption = keyof GenerationOptions;

const OPTION_NAMES: Readonly<Record<GenerationOption, true>> = {
  temperature: true,
  top_p: true,
  stop: true,
  seed: true,
  presence_penalty: true,
  frequency_penalty: true,
};

/** The names of all generation options. */
export const GENERATION_OPTIONS = Object.keys(OPTION_NAMES) as readonly GenerationOption[];

/** Returns the generation options that a request has. `null` counts as a missing option. */
export function generationOptionsOf(request: Readonly<Partial<Record<GenerationOption, unknown>>>): GenerationOptions {
  const given = GENERATION_OPTIONS.filter((option) => (request[option] ?? undefined) !== undefined);
  return Object.fromEntries(given.map((option) => [option, request[option]]));
}
