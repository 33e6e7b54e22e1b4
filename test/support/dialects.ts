export { anthropic, gemini, ollama, openAi, type Dialect } from '../../src/testing/provider/dialects.js';
