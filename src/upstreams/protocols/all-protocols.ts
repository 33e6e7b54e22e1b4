import type { Protocol } from '../contract/protocol.js';
import { AnthropicProtocol } from './anthropic/anthropic.js';
import { BuiltinProtocol } from './builtin/builtin.js';
import { OpenAiProtocol } from './openai/openai.js';

/** The protocols of the service. To add a protocol, add one file, and one entry to this list. */
export const PROTOCOLS: readonly Protocol[] = [new OpenAiProtocol(), new AnthropicProtocol(), new BuiltinProtocol()];
