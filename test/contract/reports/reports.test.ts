import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anthropic, gemini, ollama, openAi, openAiResponses } from '../../../src/testing/provider/dialects.js';
import type { Dialect } from '../../../src/testing/provider/dialects.js';
import type { ProviderCall } from '../../../src/testing/provider/provider-call.js';
import { ScriptedProvider } from '../../../src/testing/provider/scripted-provider.js';
import { UsageLedger } from '../../../src/usage/ledger/usage-ledger.js';
import { IS_THOROUGH } from '../../support/property-runs.js';
import { MODEL, routesTo, type Catalog } from '../../support/catalog.js';
import { startService, type RunningService } from '../../support/service.js';
import { converseEventOf } from '../../support/clouds/converse-stream.js';
import { waitFor } from '../../support/wait-for.js';
import { reportsOf, type Report, type RightAnswer, type SurfaceName } from './report.js';
import { eventsOf, SURFACES, type ReadAnswer } from './surfaces.js';

const QUESTION = 'How is the weather?';
type Way = 'streamed' | 'whole' | 'durable';

/** The reports of Bedrock have bodies of their own, so the dialect needs only its name. */
const bedrock: Dialect = { ...openAi, protocol: 'bedrock' };

describe.each([openAi, openAiResponses, anthropic, gemini, ollama, bedrock])(
  'the reports of providers of $protocol',
  (dialect) => {
    let provider: ScriptedProvider;
    let service: RunningService;
    const answers = new Map<string, Report>();
    /** The ids of the requests whose records are stored, and so have receipts. */
    const recorded = new Set<string>();

    beforeAll(async () => {
      provider = (await ScriptedProvider.start(dialect)).closesConnections();
      service = await startService(catalogOf(provider));
      const requestIds = new Map<string, string>();
      const ledger = service.app.get(UsageLedger, { strict: false });
      ledger.listen(({ id, requestId }) => requestIds.set(id, requestId));
      ledger.listenStored((ids) => {
        for (const id of ids) recorded.add(requestIds.get(id) ?? '');
      });
      for (const report of reportsOf(dialect.protocol))
        for (const model of modelsOf(report)) answers.set(model, report);
      provider.answers((call) => {
        answer(call, answers.get(modelIn(call)) as Report);
      });
    });
    afterAll(async () => {
      await service.stop();
      await provider.stop();
    });

    // The tests of one service run beside each other. Services do not: they share the timers of this process.
    describe.concurrent.each(reportsOf(dialect.protocol).map((report) => [report.name, report] as const))(
      '%s',
      (_, report) => {
        let key: string;

        // An account may read 60 receipts per minute.
        beforeAll(async () => ({ key } = await service.createKey()));

        it.each(surfacesOf(report))('is right on %s', async (surface) => {
          for (const way of waysOf(report, surface)) {
            const { response, text, read } = await ask(key, surface, report, way);
            expect(read, `${way}: ${text}`).toEqual(expected(report.right, surface, way, read));
            if (report.right.error !== undefined) expect(text, way).toMatch(errorPattern(report.right.error, surface));
            const model = modelOf(report.name, surface, way);
            const sent = provider.calls.findLast((call) => modelIn(call) === model)?.body ?? '';
            for (const part of report.sent ?? []) expect(sent, way).toContain(part);
            if (report.right.tokens !== undefined)
              expect((await receipt(key, response)).tokens).toMatchObject(report.right.tokens);
          }
        });
      },
    );

    async function ask(key: string, surface: SurfaceName, report: Report, way: Way) {
      const response = await send(key, surface, report, way);
      const text = await response.text();
      const read = readAnswer(surface, response.status, text, way);
      if (way === 'durable' && response.status === 200) {
        const again = await send(key, surface, report, way);
        expect(readAnswer(surface, again.status, await again.text(), way), 'the repetition').toEqual(read);
      }
      return { response, text, read };
    }

    function send(key: string, surface: SurfaceName, { name, requests: bodies, right }: Report, way: Way) {
      const tools = [...new Set((right.calls ?? []).map(({ name }) => name))];
      const usual = JSON.stringify(SURFACES[surface].body(QUESTION, tools.length === 0 ? ['unused'] : tools));
      const stream = surface === 'chat/stream' ? '' : `{"stream":${way !== 'whole'},`;
      const body = (bodies?.[surface]?.trim() ?? usual).replace(MODEL, modelOf(name, surface, way));
      const headers: Record<string, string> = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      if (way === 'durable') headers['idempotency-key'] = modelOf(name, surface, way);
      const sent = stream === '' ? body : stream + body.slice(1);
      return fetch(`${service.origin}/api/v1/${surface}`, { method: 'POST', headers, body: sent });
    }

    async function receipt(key: string, { headers }: Response): Promise<{ tokens: object }> {
      const requestId = headers.get('x-request-id') ?? '';
      await waitFor(() => recorded.has(requestId), 'the record');
      const url = `${service.origin}/api/v1/usage/streams/${requestId}`;
      const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
      expect(response.status).toBe(200);
      return (await response.json()) as { tokens: object };
    }
  },
);

/** A failure opens the circuit of a route, so each answer has a model of its own. */
function catalogOf(provider: ScriptedProvider): Catalog {
  const { upstreams, models } = routesTo([provider]);
  const ids = reportsOf(provider.dialect.protocol).flatMap(modelsOf);
  return { upstreams, models: ids.map((id) => ({ ...models[0], id, routes: [{ upstream: 'acme', model: id }] })) };
}

function modelsOf(report: Report): string[] {
  return surfacesOf(report).flatMap((surface) =>
    waysOf(report, surface).map((way) => modelOf(report.name, surface, way)),
  );
}

/** The durable answers of all surfaces are of one log. Outside CI each report has one of them. */
function waysOf(report: Report, surface: SurfaceName): Way[] {
  const ways: Way[] = SURFACES[surface].whole === undefined ? ['streamed'] : ['streamed', 'whole'];
  return IS_THOROUGH || surface === surfacesOf(report)[0] ? [...ways, 'durable'] : ways;
}

/** The model that the service asks the provider for. Gemini has it in the path. */
function modelIn({ json, path }: ProviderCall): string {
  return typeof json['model'] === 'string' ? json['model'] : (/acme\/[^:/]+/.exec(decodeURIComponent(path))?.[0] ?? '');
}

function modelOf(name: string, surface: SurfaceName, way: string): string {
  return `acme/${name}.${surface.replace('/', '-')}.${way}`;
}

/** The surfaces of a report. Outside CI each report has two of them, and the next report the next two. */
function surfacesOf(report: Report): SurfaceName[] {
  const surfaces = allSurfacesOf(report);
  if (IS_THOROUGH || surfaces.length < 3) return surfaces;
  const first = reportsOf(report.protocol).indexOf(report);
  return [first, first + 1].map((each) => surfaces[each % surfaces.length] as SurfaceName);
}

/** A question with its own requests runs on their surfaces. `chat/stream` has no tools. */
function allSurfacesOf({ requests, right }: Report): SurfaceName[] {
  const all = Object.keys(SURFACES) as SurfaceName[];
  if (requests !== undefined) return all.filter((surface) => requests[surface] !== undefined);
  return right.calls === undefined ? all : all.filter((surface) => surface !== 'chat/stream');
}

function answer(call: ProviderCall, { sends_continue: sendsContinue, body, type, protocol }: Report): void {
  if (sendsContinue === true) call.continue();
  if (body === undefined) call.answer('Hello');
  else {
    call
      .head(200, type === undefined ? {} : { 'content-type': type })
      .write(protocol === 'bedrock' ? framed(body) : body)
      .end();
  }
}

/** Returns the messages of Bedrock for lines with the name of an event and its JSON. */
function framed(lines: string): Buffer {
  const events = lines.split('\n').filter((line) => line !== '');
  return Buffer.concat(
    events.map((line) => {
      const [name = ''] = line.split(' ', 1);
      return converseEventOf(name, line.slice(name.length));
    }),
  );
}

/** The error of `messages` has a type in place of the code. */
function errorPattern(code: string, surface: SurfaceName): RegExp {
  return new RegExp(surface === 'messages' ? '"type":"error"' : `"code":"${code}"`);
}

function readAnswer(surface: SurfaceName, status: number, text: string, way: string): ReadAnswer {
  const { streamed, whole } = SURFACES[surface];
  if (status !== 200) return { text: '', calls: [], finish: undefined, isFailed: true };
  return way === 'whole' && whole !== undefined
    ? whole(JSON.parse(text) as Parameters<typeof whole>[0], text)
    : streamed(eventsOf(text));
}

/** A failure before the first text is an ordinary error, and so is each failure of a whole answer. */
function expected(right: RightAnswer, surface: SurfaceName, way: string, read: ReadAnswer): ReadAnswer {
  const { text = '', calls = [], finish = calls.length > 0 ? 'tool_calls' : 'stop', error } = right;
  if (error !== undefined) {
    const isWhole = way === 'whole';
    return { text: isWhole ? '' : text, calls: isWhole ? [] : read.calls, finish: undefined, isFailed: true };
  }
  return { text, calls: [...calls], finish: SURFACES[surface].finishes[finish], isFailed: false };
}
