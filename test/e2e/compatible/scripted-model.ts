import type { Capability } from '../../../src/platform/config/capabilities.js';
import type { StreamPart } from '../../../src/upstreams/contract/stream-part.js';
import { InProcessProvider, type InProcessCall } from '../../support/in-process-provider.js';
import { Latch } from '../../support/latch.js';
import { startService, type RunningService } from '../../support/service.js';
import { waitFor } from '../../support/wait-for.js';

const CAPABILITIES: readonly Capability[] = ['images', 'tools', 'structured_output', 'reasoning'];

class CapableProvider extends InProcessProvider {
  readonly capabilities = CAPABILITIES;
  readonly generationOptions = { temperature: 'temperature', top_p: 'top_p', stop: 'stop', seed: 'seed' };
}

/** The service with one model, `acme/fast`, that gives the parts of the test. Its aliases are `fast` and `gpt-*`. */
export class ScriptedModel {
  private constructor(
    readonly service: RunningService,
    readonly provider: InProcessProvider,
    readonly key: string,
  ) {}

  static async start(tier: object = {}, env: Readonly<Record<string, string>> = {}): Promise<ScriptedModel> {
    const provider = new CapableProvider();
    const service = await startService({
      protocols: [provider],
      upstreams: { acme: { protocol: 'scripted' } },
      models: [
        {
          ...{ id: 'acme/fast', name: 'Fast', provider: 'Acme', context_length: 8192, aliases: ['fast', 'gpt-*'] },
          routes: [{ upstream: 'acme', model: 'fast-1' }],
        },
      ],
      tiers: { free: tier },
      env,
    });
    const { key } = await service.createKey();
    return new ScriptedModel(service, provider, key);
  }

  get baseUrl(): string {
    return `${this.service.origin}/api/v1`;
  }

  /** Sets the parts of the next answers. An error is thrown at its place. A function waits for its promise. */
  answers(...parts: (StreamPart | Error | ((call: InProcessCall) => Promise<unknown>))[]): void {
    this.provider.answers('acme', async function* answer(call) {
      await Promise.resolve();
      for (const part of parts) {
        if (part instanceof Error) throw part;
        if (typeof part === 'function') await part(call);
        else yield part;
      }
    });
  }

  /** Sets the parts of the next answers, one list for each. */
  answersInTurn(...turns: (readonly StreamPart[])[]): void {
    this.provider.answers('acme', async function* answer() {
      await Promise.resolve();
      yield* turns.shift() ?? [];
    });
  }

  /** Sets an answer that stays open after its first text, `Hel`. The functions wait for its begin and for its end. */
  answersWithoutEnd(): { readonly started: () => Promise<unknown>; readonly aborted: () => Promise<void> } {
    const never = new Latch();
    let signal: AbortSignal | undefined;
    this.answers(say('Hel'), (call) => {
      ({ signal } = call);
      return never.opened;
    });
    return {
      started: () => waitFor(() => signal, 'the call of the model'),
      async aborted() {
        await waitFor(() => signal?.aborted, 'the end of the work of the provider');
        never.open();
      },
    };
  }

  /** The last request that reached the model. */
  get lastCall(): InProcessCall['call'] {
    const last = this.provider.calls.at(-1);
    if (last === undefined) throw new Error('No request has reached the model.');
    return last.call;
  }

  stop(): Promise<void> {
    return this.service.stop();
  }
}

export const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
export const PNG_URL = `data:image/png;base64,${PNG}`;

export const say = (text: string): StreamPart => ({ type: 'text', text });
export const COMPLETE: StreamPart = { type: 'complete', last: true };
export const USAGE: StreamPart = {
  type: 'usage',
  usage: { inputTokens: 12, cachedInputTokens: 4, outputTokens: 7, reasoningOutputTokens: 2 },
};

/** The parts of a call, with its arguments in two pieces. */
export function callParts(id: string, name: string, json: string): StreamPart[] {
  const middle = Math.ceil(json.length / 2);
  return [
    { type: 'tool_call_start', id, name, index: 0 },
    { type: 'tool_call_delta', id, json: json.slice(0, middle) },
    { type: 'tool_call_delta', id, json: json.slice(middle) },
    { type: 'tool_call_end', id },
  ];
}

/** Two calls of the tool `weather` at once. */
export const TWO_CALLS: readonly StreamPart[] = [
  ...callParts('call_1', 'weather', '{"city":"Rome"}'),
  ...callParts('call_2', 'weather', '{"city":"Oslo"}'),
];

/** Returns the error of a request that fails. */
export function rejectionOf<Failure>(promise: PromiseLike<unknown>): Promise<Failure> {
  return Promise.resolve(promise).then(
    () => {
      throw new Error('It has not failed.');
    },
    (error: unknown) => error as Failure,
  );
}
