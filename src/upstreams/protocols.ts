import type { Protocol } from './protocol.js';
import { AnthropicProtocol } from './protocols/anthropic.js';
import { BuiltinProtocol } from './protocols/builtin/builtin.js';
import { OpenAiProtocol } from './protocols/openai.js';

/** The wire protocols that the service speaks. One more is one file and one entry here. */
export const PROTOCOLS: readonly Protocol[] = [new OpenAiProtocol(), new AnthropicProtocol(), new BuiltinProtocol()];
