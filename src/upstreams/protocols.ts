import type { Protocol } from './protocol.js';
import { AnthropicProtocol } from './protocols/anthropic.js';
import { BuiltinProtocol } from './protocols/builtin/builtin.js';
import { OpenAiProtocol } from './protocols/openai.js';

/** The protocols of the service. To add a protocol, add one file, and one entry to this list. */
export const PROTOCOLS: readonly Protocol[] = [new OpenAiProtocol(), new AnthropicProtocol(), new BuiltinProtocol()];
