import type { ModelConfig } from '../../platform/config/config.js';
import type { CallTrace } from '../completion/call-trace.js';
import type { ChatCall } from '../contract/chat-call.js';

/** A validated request, before a route is chosen. */
export type CompletionRequest = Omit<
  ChatCall,
  'model' | 'modelMaxOutputTokens' | 'modelCapabilities' | 'modelThinking'
> & {
  readonly accountId: string;
  /** Whether the stream returns reasoning. Without reasoning, a failover is possible until the first text. */
  readonly readsReasoning?: boolean;
  /** Whether the stream returns tool calls. */
  readonly readsToolCalls?: boolean;
};

/** What all attempts of one completion have in common. */
export interface RoutedCompletion {
  readonly model: ModelConfig;
  readonly request: CompletionRequest;
  readonly trace: CallTrace;
}
