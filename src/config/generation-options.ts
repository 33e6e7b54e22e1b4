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

const NAMES: Readonly<Record<GenerationOption, true>> = {
  temperature: true,
  top_p: true,
  stop: true,
  seed: true,
  presence_penalty: true,
  frequency_penalty: true,
};

/** The names of all generation options. */
export const GENERATION_OPTIONS = Object.keys(NAMES) as readonly GenerationOption[];
