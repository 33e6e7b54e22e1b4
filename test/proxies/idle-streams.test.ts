import { constants } from 'node:http2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ProviderCall } from '../../src/testing/provider/provider-call.js';
import { setStage, type Stage } from '../support/stage.js';
import { waitFor } from '../support/wait-for.js';
import { ProxyClient, type ProxyAnswer } from './proxy-client.js';
import { PROXIES, RunningProxy } from './proxies.js';

const SILENCE_MS = 75_000;
/** The headers go out after 30 s in any case, and the first keep-alive 15 s later. */
const LIMIT_MS = 60_000;
const TIMEOUTS = { first_token_ms: 120_000, idle_ms: 120_000 };
const AFTER_TEXT = 'silent after a text';
const KEEP_ALIVE = ': keep-alive\n\n';

const present = PROXIES.filter(({ program }) => program !== undefined);
const isWanted = process.env['CI'] === 'true' || process.env['TEST_IDLE_STREAMS'] === 'true';
if (!isWanted) {
  console.warn('\n!!! The test of 75 s without data behind proxies is LEFT OUT: set TEST_IDLE_STREAMS=true !!!\n');
}

/** What one proxy has in front of it: a provider that is silent from the beginning, one that falls silent, and a client that leaves. */
interface Silence {
  readonly name: string;
  readonly proxy: RunningProxy;
  readonly client: ProxyClient;
  readonly fromTheBeginning: ProxyAnswer;
  readonly afterText: ProxyAnswer;
  readonly left: ProxyAnswer;
}

describe.runIf(isWanted && present.length > 0)(
  `75 s without data behind ${present.map(({ name }) => name).join(', ')}`,
  () => {
    let stage: Stage;
    let silences: Silence[];
    const silent: ProviderCall[] = [];

    beforeAll(async () => {
      stage = await setStage(1, { timeouts: TIMEOUTS, env: { TRUST_PROXY: '1' } });
      stage.provider.answers((call) => {
        if (call.body.includes(AFTER_TEXT)) call.head().text('Half ');
        silent.push(call);
      });
      silences = await Promise.all(
        present.map(async (kind) => {
          const proxy = await RunningProxy.start(kind, Number(new URL(stage.origin).port));
          const client = new ProxyClient(proxy);
          const ask = (content: string) => client.ask(stage.key, { messages: [{ role: 'user', content }] });
          const [fromTheBeginning, afterText, left] = [
            ask('from the beginning'),
            ask(AFTER_TEXT),
            ask(leavesFrom(kind.name)),
          ];
          return { name: kind.name, proxy, client, fromTheBeginning, afterText, left };
        }),
      );
    });
    afterAll(async () => {
      for (const { client } of silences) client.close();
      await Promise.all(silences.map(({ proxy }) => proxy.stop()));
      await stage.clear();
    });

    it('ends no stream, and hides no client that leaves', { timeout: 2 * SILENCE_MS }, async () => {
      await waitFor(() => silent.length === 3 * silences.length, 'all calls');
      const startedAt = performance.now();

      for (const { name, left } of silences) {
        await waitFor(() => left.text.includes(KEEP_ALIVE), `a keep-alive through ${name}`, LIMIT_MS);
        left.stream.close(constants.NGHTTP2_CANCEL);
        const call = silent.find(({ body }) => body.includes(leavesFrom(name)));
        await waitFor(() => call?.abortedAt !== undefined, `the service to notice the client behind ${name}`);
      }

      await waitFor(() => performance.now() - startedAt > SILENCE_MS, 'the silence to be over', 2 * SILENCE_MS);
      for (const call of silent) {
        if (call.abortedAt !== undefined) continue;
        if (!call.body.includes(AFTER_TEXT)) call.head();
        call.text('at last.').finish().endMarker().end();
      }
      for (const { name, fromTheBeginning, afterText } of silences) {
        for (const [answer, text] of [
          [fromTheBeginning, 'at last.'],
          [afterText, 'Half at last.'],
        ] as const) {
          await waitFor(() => answer.isOver, `the end of a stream behind ${name}`);
          expect({ name, status: answer.status, text: textIn(answer) }).toEqual({ name, status: 200, text });
          expect(answer.text, name).toContain(KEEP_ALIVE);
          expect(answer.text, name).toMatch(/data: {"content":"","done":true}\n\n$/);
        }
      }
    });
  },
);

const leavesFrom = (name: string) => `the client leaves ${name}`;

function textIn({ text }: ProxyAnswer): string {
  return [...text.matchAll(/^data: (.*)$/gm)]
    .map(([, chunk = '']) => (JSON.parse(chunk) as { content: string }).content)
    .join('');
}
