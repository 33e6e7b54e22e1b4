import { Injectable } from '@nestjs/common';
import type { ModelConfig, RouteConfig } from '../../platform/config/config.js';
import { startTimer } from '../../platform/common/timers/pace.js';
import { CallTrace } from '../completion/call-trace.js';
import { CLIENT_GONE, nextPart } from '../completion/part-stream.js';
import { failureText } from '../contract/provider-failure.js';
import { AttemptFactory } from './attempt-factory.js';
import { FailoverStream } from './failover-stream.js';

/** The maximum time that an operator waits for the first text. */
const PATIENCE_MS = 20_000;
/** Models think before they write. */
const MAX_TOKENS = 1_024;

/** The result of one attempt at a route. Times are in milliseconds. */
export type ProbeResult =
  | { readonly type: 'answered'; readonly firstTextMs: number }
  | { readonly type: 'failed'; readonly failure: string; readonly durationMs: number }
  /** No text and no failure in {@link PATIENCE_MS}. */
  | { readonly type: 'waiting'; readonly durationMs: number };

/**
 * Tries one route with a short question, also while its circuit is open, and stops at the first text. The attempt counts for the state
 * of the route as that of any request: the first text closes a circuit that failures have opened.
 */
@Injectable()
export class RouteProbe {
  constructor(private readonly attempts: AttemptFactory) {}

  /** @param requestId names the attempt in the log. */
  async run(model: ModelConfig, route: RouteConfig, requestId: string, accountId: string): Promise<ProbeResult> {
    const trace = new CallTrace(requestId);
    const request = {
      accountId,
      messages: [{ role: 'user', content: 'Reply with the word OK.' }],
      options: {},
      maxTokens: Math.min(MAX_TOKENS, model.maxOutputTokens ?? MAX_TOKENS),
    } as const;
    const stream = new FailoverStream({ model, request, trace }, [route].values(), this.attempts, () => undefined);
    const timer = startTimer(() => {
      stream.stop(CLIENT_GONE);
    }, PATIENCE_MS);
    try {
      await nextPart(stream);
    } catch {
      // The trace has the failure.
    } finally {
      clearTimeout(timer);
      await stream.return();
    }
    const { firstTextMs, durationMs = trace.elapsedMs, code, cause } = trace.lastAttempt ?? {};
    if (code !== undefined)
      return { type: 'failed', failure: failureText(code, cause ?? { kind: 'protocol' }), durationMs };
    return firstTextMs === undefined ? { type: 'waiting', durationMs } : { type: 'answered', firstTextMs };
  }
}
