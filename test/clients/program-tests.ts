import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { ScriptedProvider } from '../../src/testing/provider/scripted-provider.js';
import { createTestService, type TestService } from '../../src/testing/service/test-service.js';
import { configFile, routesTo } from '../support/catalog.js';
import { waitFor } from '../support/wait-for.js';
import { agentModel, messagesIn } from './agent-model.js';
import { areInstalled, run, WORD, type Ended, type Program } from './program.js';

const MODEL = 'acme/agent';
const LIMITED = 'limited';
/** Codex tries five times more, whatever the answer is. */
const MAX_TRIES = 6;
/** A program of many files starts slowly on a busy machine. */
const STARTED_WITHIN_MS = 75_000;
const HOLDING = 'This stream uses the only slot. ';
/** The times are measured when an answer has been sent, and a program measures when it has arrived. */
const EARLY_MS = 100;

interface Answered {
  readonly path: string;
  readonly status: number;
  /** The length of the body. A program that asks for a title beside its question sends two bodies, and repeats each unchanged. */
  readonly length: string | undefined;
  readonly receivedAt: number;
  /** When the answer had been sent. */
  readonly at: number;
  readonly retryAfterMs: number;
}

/** The tests that each program passes. */
export function testProgram(program: Program): void {
  let provider: ScriptedProvider;
  let service: TestService;
  let key: string;
  const answered: Answered[] = [];

  it('is installed: npm run test:clients installs it', () => {
    expect(areInstalled).toBe(true);
  });

  beforeAll(async () => {
    provider = await ScriptedProvider.start();
    const { upstreams, models } = routesTo([provider]);
    const catalog = {
      upstreams,
      models: models.map((model) => ({ ...model, id: MODEL, context_length: 200_000, max_output_tokens: 64_000 })),
    };
    service = await createTestService({
      config: configFile(catalog, { free: {}, [LIMITED]: { concurrent_streams: 1 } }),
    });
    service.app.getHttpServer().on('request', (request, response) => {
      const receivedAt = performance.now();
      response.on('close', () => {
        const retryAfterMs = Number(response.getHeader('retry-after') ?? 0) * 1_000;
        answered.push({
          path: request.url ?? '',
          status: response.statusCode,
          length: request.headers['content-length'],
          receivedAt,
          at: performance.now(),
          retryAfterMs,
        });
      });
    });
    ({ key } = await service.createKey());
  });
  afterAll(async () => {
    await service.stop();
    await provider.stop();
  });
  beforeEach(() => {
    answered.length = 0;
    provider.calls.length = 0;
    provider.answers(agentModel);
  });

  const asked = (settings: { key?: string; model?: string; isImageAsked?: boolean } = {}) =>
    run(program, { baseUrl: `${service.origin}/api/v1`, key, model: MODEL, ...settings });
  const statuses = () => answered.map(({ path, status }) => `${status} ${path}`);
  /** A program that has failed says so by its exit code, or in words. */
  const saysFailure = ({ code, stdout, stderr }: Ended) =>
    code !== 0 || /error|fail|unable|retry|interrupted|disconnected/i.test(stdout + stderr);

  const told = ({ stdout, stderr }: Ended) =>
    `${stdout.slice(-2_000)}\n${stderr.slice(-2_000)}\n${statuses().join(', ')}`;

  it('answers after two rounds of tools, and no request is refused', async () => {
    const answer = await asked();

    expect([answer.code, answer.stdout], told(answer)).toEqual([0, expect.stringContaining(WORD)]);
    expect(statuses().filter((status) => !status.startsWith('200 '))).toEqual([]);
    const results = provider.calls.map(({ json }) => messagesIn(json).filter(({ role }) => role === 'tool').length);
    expect(Math.max(...results)).toBeGreaterThanOrEqual(2);
  });

  if (program.takesImages)
    it('sends an image', async () => {
      const answer = await asked({ isImageAsked: true });

      expect(answer.code, told(answer)).toBe(0);
      expect(statuses().filter((status) => !status.startsWith('200 '))).toEqual([]);
      expect(provider.calls.some(({ body }) => body.includes('"image_url"') && body.includes('base64,'))).toBe(true);
    });

  it('tells that its key is wrong, and does not try for long', async () => {
    const answer = await asked({ key: 'csk_wrong' });

    expect(saysFailure(answer), told(answer)).toBe(true);
    expect(answer.code).toBeDefined();
    expect(answer.stdout + answer.stderr).toMatch(/key|401|auth/i);
    expect([answered.every(({ status }) => status === 401), answered.length <= MAX_TRIES], told(answer)).toEqual([
      true,
      true,
    ]);
  });

  it('tells that its model is unknown', async () => {
    const answer = await asked({ model: 'acme/unknown' });

    expect(saysFailure(answer), told(answer)).toBe(true);
    expect(answer.code).toBeDefined();
    expect(answer.stdout + answer.stderr).toMatch(/model|404/i);
    expect(provider.calls).toEqual([]);
  });

  it('waits after a 429 as long as it has to', async () => {
    const { key: limited } = await service.createKey({ tier: LIMITED });
    const held = new AbortController();
    const body = JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'Hello!' }] });
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${limited}` };
    // A late call of the program before can take the answer that is meant for this stream.
    for (let isHeld = false; !isHeld;) {
      provider.next((call) => void call.head().text(HOLDING));
      const { body: stream } = await fetch(`${service.origin}/api/v1/chat/stream`, {
        ...{ method: 'POST', headers, body },
        signal: held.signal,
      });
      const first = await stream?.getReader().read();
      isHeld = Buffer.from(first?.value ?? []).includes(HOLDING);
    }
    answered.length = 0;
    const refused = (): Answered | undefined => answered.find(({ status }) => status === 429);
    const program429 = asked({ key: limited });
    await waitFor(refused, 'a 429', STARTED_WITHIN_MS);
    held.abort();

    const answer = await program429;

    const { at: refusedAt = 0, retryAfterMs = 0, length } = refused() ?? {};
    expect(retryAfterMs).toBeGreaterThan(0);
    const early = answered.filter(
      (one) =>
        one.length === length && one.receivedAt > refusedAt && one.receivedAt < refusedAt + retryAfterMs - EARLY_MS,
    );
    expect(early, told(answer)).toEqual([]);
    expect(answer.stdout.includes(WORD) || saysFailure(answer), told(answer)).toBe(true);
  });

  it('never takes an answer as complete whose provider dies in the middle', async () => {
    let isCut = false;
    provider.answers(async (call) => {
      const { tools = [] } = call.json as { tools?: readonly object[] };
      if (isCut || tools.length === 0) return agentModel(call);
      isCut = true;
      await call.head().text('The word is hero').cut();
      return undefined;
    });

    const answer = await asked();

    expect(isCut).toBe(true);
    expect(answer.code, told(answer)).toBeDefined();
    // The program tries again, or tells that the answer has failed.
    expect(answer.stdout.includes(WORD) || saysFailure(answer), told(answer)).toBe(true);
  });
}
