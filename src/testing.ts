// The test kit of the package, for teams that extend the service. Its suites need vitest and fast-check.
import 'reflect-metadata';

export {
  createTestService,
  type TestKeyOptions,
  type TestService,
  type TestServiceOptions,
  type TestSession,
} from './testing/service/test-service.js';
export { configFor, TEST_MODEL } from './testing/service/test-config.js';
export { ScriptedProvider, type Script } from './testing/provider/scripted-provider.js';
export type { ProviderCall } from './testing/provider/provider-call.js';
export { anthropic, gemini, ollama, openAi, openAiResponses, type Dialect } from './testing/provider/dialects.js';
export { waitFor } from './testing/wait-for.js';

export { describeProtocol } from './testing/protocols/describe-protocol.js';
export type { ExpectedAnswer, ProtocolContract, RecordedAnswer } from './testing/protocols/protocol-contract.js';
export { TEST_CALL, TEST_CONTEXT, TEST_UPSTREAM } from './testing/protocols/samples.js';

export { describeLimitStore } from './testing/stores/describe-limit-store.js';
export type { LimitStoreContract, OpenedLimitStore } from './testing/stores/limit-stores.js';
