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

const NAMES: Readonly<Record<Capability, true>> = {
  images: true,
  tools: true,
  structured_output: true,
  reasoning: true,
};

/** The names of all capabilities. */
export const CAPABILITIES = Object.keys(NAMES) as readonly Capability[];
