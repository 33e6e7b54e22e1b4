import type { UpstreamConfig } from '../../src/platform/config/config.js';
import type { CallContext, ChatCall, InProcessProtocol } from '../../src/upstreams/contract/protocol.js';
import type { StreamPart } from '../../src/upstreams/contract/stream-part.js';
import type { Catalog, Timeouts } from './catalog.js';

/** One attempt that reached an in-process protocol. */
export interface InProcessCall {
  readonly upstream: string;
  readonly call: ChatCall;
  readonly context: CallContext;
  /** The signal of the context. Held from the start, as a protocol with a client of its own does. */
  readonly signal: AbortSignal;
}

/** Answers one attempt. */
export type InProcessScript = (call: InProcessCall) => AsyncIterable<StreamPart>;

export const text = (piece: string): StreamPart => ({ type: 'text', text: piece });
export const COMPLETE: StreamPart = { type: 'complete', last: true };

/** A protocol that answers in the process, with a script for each upstream. */
export class InProcessProvider implements InProcessProtocol {
  readonly transport = 'in-process';
  readonly name = 'scripted';
  readonly calls: InProcessCall[] = [];
  private readonly scripts = new Map<string, InProcessScript>();

  /** Sets the script for every later attempt at the upstream. The usual answer is the name of the upstream. */
  answers(upstream: string, script: InProcessScript): void {
    this.scripts.set(upstream, script);
  }

  stream(call: ChatCall, { name }: UpstreamConfig, context: CallContext): AsyncIterable<StreamPart> {
    const attempt = { upstream: name, call, context, signal: context.signal };
    this.calls.push(attempt);
    return (this.scripts.get(name) ?? sayName)(attempt);
  }
}

/** A model `acme/<name>` for each name, with a route to the upstream of this name, and then to its backup. */
export function inProcessModels(names: readonly string[], timeouts: Timeouts = {}): Catalog {
  const upstreams = names.flatMap((name): [string, object][] => [
    [name, { protocol: 'scripted', timeouts }],
    [`${name}-backup`, { protocol: 'scripted' }],
  ]);
  return {
    upstreams: Object.fromEntries(upstreams),
    models: names.map((name) => ({
      ...{ id: `acme/${name}`, name, provider: 'Acme', context_length: 8192 },
      routes: [name, `${name}-backup`].map((upstream) => ({ upstream, model: 'fast' })),
    })),
  };
}

async function* sayName({ upstream }: InProcessCall): AsyncGenerator<StreamPart> {
  await Promise.resolve();
  yield text(upstream);
  yield COMPLETE;
}
