import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ExpectedAnswer } from '../../../src/testing/protocols/protocol-contract.js';
import type { UsageRecord } from '../../../src/usage/record/usage-record.js';
import { routesTo } from '../../support/catalog.js';
import { anthropic, gemini, ollama, openAi, openAiResponses } from '../../../src/testing/provider/dialects.js';
import { ScriptedProvider } from '../../../src/testing/provider/scripted-provider.js';
import { startService, type RunningService } from '../../support/service.js';
import { stream, type ReceivedStream } from '../../support/sse-client.js';
import { waitFor } from '../../support/wait-for.js';
import { readWire } from '../../support/wire.js';
import { fixturesOf } from './fixtures.js';

/** The bytes are those of the fixtures, so the dialect has only its name. */
const bedrock = { ...openAi, protocol: 'bedrock' };

describe.each([openAi, openAiResponses, anthropic, gemini, ollama, bedrock])(
  'the answers recorded from providers of $protocol',
  (dialect) => {
    let provider: ScriptedProvider;
    let service: RunningService;
    let key: string;
    const records: UsageRecord[] = [];

    beforeAll(async () => {
      provider = await ScriptedProvider.start(dialect);
      service = await startService({
        ...routesTo([provider]),
        records,
      });
      ({ key } = await service.createKey());
    });
    afterAll(async () => {
      await service.stop();
      await provider.stop();
    });

    // A request without tools does not read tool calls, so a failure of a call is not the failure of its answer.
    const fixtures = fixturesOf(dialect.protocol).filter(
      ({ expected: { toolCalls, error } }) => toolCalls === undefined || error === undefined,
    );
    const folders = [...new Set(fixtures.map(({ name }) => name.split('/')[0]))];

    it.each(folders)('reach the client and the ledger as they are: %s', async (folder) => {
      for (const { name, bytes, expected } of fixtures.filter((each) => each.name.startsWith(`${folder}/`))) {
        provider.next((call) => {
          call.head().write(bytes).end();
        });
        const count = records.length;

        const answer = await stream(service.origin, { key });

        const isFiltered = expected.finish?.reason === 'content_filter';
        const filtered = expected.text === '' ? 'upstream_rejected' : 'content_filtered';
        const failure = isFiltered ? filtered : (expected.error ?? 'upstream_error');
        const isWhole = expected.complete && !isFiltered;
        expect(await received(answer), name).toEqual({ text: expected.text, terminal: isWhole ? 'done' : failure });
        const record = await waitFor(() => records[count], 'the record');
        expect(record.errorCode, name).toBe(isWhole ? undefined : failure);
        expect(record.finishReason, name).toBe(expected.finish?.raw);
        expect(record, name).toMatchObject(reported(expected));
      }
    });
  },
);

/** A count of tokens before the finish is not final, so the ledger estimates the answer. */
function reported({ usage = {}, finish, complete }: ExpectedAnswer): Partial<UsageRecord> {
  const { inputTokens, outputTokens } = usage;
  const isFinal = complete || finish !== undefined;
  return {
    ...(inputTokens !== undefined && { inputTokens: { source: 'reported', count: inputTokens } }),
    ...(outputTokens !== undefined && isFinal && { outputTokens: { source: 'reported', count: outputTokens } }),
  };
}

/** Before any text, a failure is an ordinary HTTP error. */
async function received(answer: ReceivedStream): Promise<{ text: string; terminal: string | undefined }> {
  if (answer.status !== 200) return { text: '', terminal: (await answer.error()).code };
  const { text, terminal } = readWire(answer.raw);
  return { text, terminal };
}
