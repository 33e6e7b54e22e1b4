import { describe, expect, it } from 'vitest';
import { CallTrace } from '../../../src/upstreams/completion/call-trace.js';
import { PartCollector } from '../../../src/upstreams/completion/part-collector.js';

/** The word that the ledger gets for an answer that ends so. */
function keptWord(raw: string, reason: 'stop' | 'other'): string | undefined {
  const trace = new CallTrace('1');
  new PartCollector(trace).add({ type: 'finish', reason, raw });
  return trace.finish?.raw;
}

describe('the word for the end of an answer', () => {
  it.each(['stop', 'end_turn', 'model_context_window_exceeded', 'MAX_TOKENS'])(
    'is kept where it is known: %s',
    (word) => {
      expect(keptWord(word, 'other')).toBe(word);
    },
  );

  it.each(['my password is hunter2', 'constructor', '', 'x'.repeat(1_000_000)])(
    'is ours where it is unknown',
    (word) => {
      expect(keptWord(word, 'other')).toBe('other');
      expect(keptWord(word, 'stop')).toBe('stop');
    },
  );
});
