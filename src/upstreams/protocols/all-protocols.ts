import type { Protocol } from '../contract/protocol.js';
import { AnthropicProtocol } from './anthropic/anthropic.js';
import { BedrockProtocol } from './bedrock/bedrock.js';
import { BuiltinProtocol } from './builtin/builtin.js';
import { GeminiProtocol } from './gemini/gemini.js';
import { OllamaProtocol } from './ollama/ollama.js';
import { OpenAiResponsesProtocol } from './openai-responses/openai-responses.js';
import { OpenAiProtocol } from './openai/openai.js';

/** The protocols of the service. To add a protocol, add one file, and one entry to this list. */
export const PROTOCOLS: readonly Protocol[] = [
  new OpenAiProtocol(),
  new OpenAiResponsesProtocol(),
  new AnthropicProtocol(),
  new GeminiProtocol(),
  new BedrockProtocol(),
  new OllamaProtocol(),
  new BuiltinProtocol(),
];
