import { Logger } from '@nestjs/common';
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi, type Mock } from 'vitest';
import { anthropic, gemini, ollama, openAi } from '../../../src/testing/provider/dialects.js';
import { ScriptedProvider } from '../../../src/testing/provider/scripted-provider.js';
import { refusing } from '../../support/scripts.js';
import { startService, type RunningService } from '../../support/service.js';

const HELLO = [{ role: 'user', content: 'Hello!' }];
const ROUTES = 40;

/** The body of a provider's error, and what the service makes of the error. */
interface ErrorCase {
  readonly source: string;
  readonly protocol: string;
  readonly status: number;
  readonly body: unknown;
  readonly expected: {
    readonly code: string;
    readonly kind: string;
    /** What the caller reads. Missing: the fixed message of the code. */
    readonly message?: string;
    readonly param?: string;
    readonly type?: string;
    readonly provider_code?: string;
  };
}

const FOLDER = new URL('../../fixtures/errors/', import.meta.url);
const cases = readdirSync(FOLDER).flatMap((file) => {
  const found = JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')) as ErrorCase[];
  return found.map((each, index) => ({ ...each, name: `${file} ${index}: ${each.status}` }));
});
const HTTP_STATUS = { upstream_rejected: 400, upstream_error: 502, upstream_unavailable: 503, upstream_timeout: 504 };
const FIXED = {
  upstream_rejected: /^The provider rejected the request, without a reason/,
  upstream_error: /^The provider failed\.$/,
  upstream_unavailable: /^The provider is overloaded or limits/,
  upstream_timeout: /^The provider did not answer in time\.$/,
};
type Code = keyof typeof FIXED;

interface ErrorBody {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly param?: string | null;
    readonly details?: readonly { readonly field: string }[];
  };
}

describe('the error of a provider', () => {
  const providers = new Map<string, ScriptedProvider>();
  let service: RunningService;
  let key: string;
  let warn: Mock;
  let next = 0;

  beforeAll(async () => {
    for (const dialect of [openAi, anthropic, gemini, ollama]) {
      providers.set(dialect.protocol, await ScriptedProvider.start(dialect));
    }
    const upstreams = [...providers].flatMap(([protocol, { origin }]) =>
      // Failures of the key open the circuit of a whole upstream, so each case has its own.
      Array.from({ length: ROUTES }, (_, index): [string, object] => [
        `${protocol}-${index}`,
        {
          protocol,
          base_url: `${origin}/v1`,
          api_key: `sk-operator-key-${protocol}`,
          provider_messages: index === 0 ? 'hidden' : 'shown',
        },
      ]),
    );
    const models = upstreams.map(([upstream]) => ({
      ...{ id: `acme/${upstream}`, name: 'A', provider: 'Acme', context_length: 100_000 },
      routes: [{ upstream, model: 'm' }],
    }));
    service = await startService({ upstreams: Object.fromEntries(upstreams), models });
    ({ key } = await service.createKey());
  });
  afterAll(async () => {
    await service.stop();
    for (const provider of providers.values()) await provider.stop();
  });
  afterEach(() => {
    warn.mockRestore();
  });

  const post = async (path: string, body: object) => {
    warn = vi.spyOn(Logger.prototype, 'warn').mockReturnValue() as Mock;
    const response = await fetch(`${service.origin}/api/v1/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify(body),
    });
    return { status: response.status, ...((await response.json()) as ErrorBody) };
  };
  const refuseWith = ({ protocol, status, body }: Pick<ErrorCase, 'protocol' | 'status' | 'body'>): void => {
    providers.get(protocol)?.next(refusing(status, {}, typeof body === 'string' ? body : JSON.stringify(body)));
  };
  const asked = (protocol: string) => `acme/${protocol}-${1 + (next++ % (ROUTES - 1))}`;
  const rejected = (message: string, others: object = {}, status = 400) => ({
    ...{ protocol: 'openai', status },
    body: { error: { message, type: 'invalid_request_error', ...others } },
  });

  it.each(cases)('reaches the caller where it names a parameter or a limit, and is in the log: $name', async (each) => {
    const { code, kind, message, param, type, provider_code: providerCode } = each.expected;
    refuseWith(each);

    const { status, error } = await post('chat/stream', { model: asked(each.protocol), messages: HELLO });

    expect([status, error.code]).toEqual([HTTP_STATUS[code as Code], code]);
    if (message === undefined && !error.message.includes('prompt is too long')) {
      expect(error.message).toMatch(FIXED[code as Code]);
    } else expect(error.message).toContain(message ?? '');
    expect(error.details?.[0]?.field).toBe(message === undefined ? undefined : param);
    expect(error.message).not.toMatch(/https?:|sk-|org[-_]\w|[0-9a-f]{8}-[0-9a-f]{4}|user_\d|req_/);

    const [line] = warn.mock.calls.map(([entry]: unknown[]) => entry).filter((entry) => hasCause(entry));
    expect(line).toMatchObject({ msg: 'An upstream failed', code });
    const known = Object.entries({ kind, status: each.status, type, code: providerCode, param });
    expect((line as { cause: object }).cause).toEqual(Object.fromEntries(known.filter(([, value]) => value)));
  });

  it('has its message and parameter on the surfaces, in their formats', async () => {
    const refusal = rejected("Unsupported value: 'temperature' does not support 0 with this model.", {
      param: 'temperature',
    });
    const model = asked('openai');
    for (const [path, body] of [
      ['chat/completions', { model, messages: HELLO }],
      ['responses', { model, input: 'Hello!' }],
    ] as const) {
      refuseWith(refusal);
      const { error } = await post(path, body);
      expect(error).toEqual({
        ...{ message: refusal.body.error.message, type: 'invalid_request_error' },
        ...{ param: 'temperature', code: 'upstream_rejected' },
      });
    }
    refuseWith(refusal);
    expect(await post('messages', { model, messages: HELLO, max_tokens: 10 })).toMatchObject({
      type: 'error',
      error: { type: 'invalid_request_error', message: refusal.body.error.message },
    });
  });

  it.each(['upstream_rejected', 'upstream_unavailable'] as const)(
    'is hidden by provider_messages: %s',
    async (code) => {
      refuseWith(
        rejected(
          "'temperature' must be at most 1.",
          { param: 'temperature' },
          code === 'upstream_rejected' ? 400 : 429,
        ),
      );
      const { error } = await post('chat/stream', { model: 'acme/openai-0', messages: HELLO });
      expect([error.code, error.details]).toEqual([code, undefined]);
      expect(error.message).toMatch(FIXED[code]);
    },
  );

  it.each([
    ['the configured key', 'sk-operator-key-openai'],
    ['another key', 'sk-ant-api03-AbCdEfGh12345678'],
    ['a masked key', 'sk-proj-****MxYA'],
    ['a token', 'Bearer abcdef123456'],
    ['a signed token', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl'],
    ['a URL', 'https://vllm-7.internal.example.com:8000/v1?key=1'],
    ['a URL with a key', 'https://api.example.com/v1?key=AIzaSyA-abcdefghijklmnopqrstuvwxyz12345'],
    ['a host', 'vllm-7.svc.cluster.local:8000'],
    ['a model of the account', 'ft:gpt-4o-mini:acme-corp:support:AbC123'],
    ['an address', '10.1.2.3:8000'],
    ['an IPv6 address', '[2001:db8:0:1::7]:8000'],
    ['a mail address', 'ada@example.com'],
    ['an organization', 'org-uOtiSEwvUnroadaOnJJquBEC'],
    ['a project', 'proj_AbCdEf123456'],
    ['a request', 'req_011CaUUB15WGRCpQ2TQoFS2c'],
    ['a UUID', '0dccdde6-f924-4f1b-bb3b-92ef846e0a5b'],
    ['an ARN', 'arn:aws:bedrock:us-west-2:012345678901:application-inference-profile/ip0w7nxxzs3j'],
    ['an account', '012345678901'],
    ['a project of Google', 'projects/my-project-7/locations/us-central1'],
    ['a number of a project', "'project_number:123456789012'"],
    ['a file', '/usr/lib/python3/dist-packages/vllm/serving_chat.py'],
  ])('has no secret and no id of the account of the provider: %s', async (_, secret) => {
    refuseWith(rejected(`max_tokens is too large for ${secret}, the limit is 4096.`));
    const { error } = await post('chat/completions', { model: asked('openai'), messages: HELLO });
    expect(error.message.replaceAll("'", '')).toBe('max_tokens is too large for [removed], the limit is 4096.');
  });

  it.each([
    'max_tokens: 128000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4-5',
    "Invalid 'messages[3].content[1].image_url': expected a base64-encoded data URL with an image of at most 20 MB.",
    "Invalid schema for function 'get_request_too_large': 'user_messages' is not of type 'object'.",
    'top_p must be in (0, 1], got 1.5.',
    'Integer above maximum value. Expected a value <= 9223372036854775807, but got 9223372036854775808 for seed.',
    'Model meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8 supports at most 5 images, and input/output in text.',
  ])('is unchanged where nothing must be removed: %s', async (message) => {
    refuseWith(rejected(message));
    expect((await post('chat/stream', { model: asked('openai'), messages: HELLO })).error.message).toBe(message);
  });

  it('is read where its provider repeats a long prompt after it', async () => {
    const message = "'messages.0.content' must have at most 1000 characters.";
    refuseWith(rejected(message, { input: 'a'.repeat(200_000) }));
    expect((await post('chat/stream', { model: asked('openai'), messages: HELLO })).error.message).toBe(message);
  });

  it('is one line of plain text of at most 500 characters', async () => {
    const message = `<b>max_tokens</b>\r\n\u001b[31mis\u001b[0m too\u2028large: \u202e\u0000\ud800 ${'token '.repeat(300)}`;
    refuseWith(rejected(message, { param: 'max_tokens' }));
    const { error } = await post('chat/stream', { model: asked('openai'), messages: HELLO });
    expect(error.message).toHaveLength(500);
    expect(error.message).toMatch(/^max_tokens is too large: \ufffd token token [^\p{C}]*…$/u);
  });

  it.each(['', '<html>max_tokens</html>', '{"error":{"message":"max_tokens', '[]', '{"error":7}'])(
    'is not shown where it is not a message: %j',
    async (body) => {
      refuseWith({ protocol: 'openai', status: 400, body });
      const { error } = await post('chat/stream', { model: asked('openai'), messages: HELLO });
      expect(error.message).toMatch(FIXED.upstream_rejected);
    },
  );

  it('is told in the same way inside a stream, before and after the first text', async () => {
    const provider = providers.get('openai');
    const error = { message: "'temperature' must be at most 1, see http://x.test/y", type: 'invalid_request_error' };
    const event = `data: ${JSON.stringify({ error })}\n\n`;
    provider?.next((call) => {
      call.head().write(event).end();
    });
    const body = { model: asked('openai'), messages: HELLO };
    expect((await post('chat/stream', body)).error.message).toBe("'temperature' must be at most 1, see [removed]");
    provider?.next((call) => {
      call.head().text('Hi').write(event).end();
    });
    const response = await fetch(`${service.origin}/api/v1/chat/stream`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify(body),
    });
    expect(await response.text()).toContain("'temperature' must be at most 1, see [removed]");
  });
});

function hasCause(entry: unknown): boolean {
  return typeof entry === 'object' && entry !== null && 'cause' in entry;
}
