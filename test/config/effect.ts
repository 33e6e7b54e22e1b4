import { expect } from 'vitest';
import { routesTo } from '../support/catalog.js';
import { ScriptedProvider } from '../../src/testing/provider/scripted-provider.js';
import { startService, type RunningService, type ServiceOptions } from '../support/service.js';

/** What one variable or member does. */
export interface Effect {
  /** Fails unless a value other than the default has its effect. Missing: a test of the feature sets the value. */
  readonly set?: () => Promise<void>;
  /** Fails unless the default has its effect. */
  readonly unset?: () => Promise<void>;
  /** Values that are refused, each with the whole problem that the start reports. */
  readonly refused: readonly (readonly [value: unknown, problem: string])[];
}

/** The values of a variable that are refused: one that is not a whole number, and the numbers next to its range. */
export function notWithin(name: string, min: number, max: number, wrong: string): Effect['refused'] {
  const outside = [...(min === 0 ? [] : [min - 1]), max + 1];
  return [
    [wrong, `${name}: must be a whole number`],
    ...outside.map((value) => [String(value), `${name}: must be between ${min} and ${max}`] as const),
  ];
}

type Variables = Readonly<Record<string, string>>;

/**
 * Returns a function for effects that one look at the running service shows: `set` with the variables, and `unset` without.
 *
 * @param run runs the service with variables for as long as `use` takes.
 */
export function shownIn<T>(run: (env: Variables, use: (running: T) => Promise<void>) => Promise<void>) {
  return (
    env: Variables,
    look: (running: T) => unknown,
    expected: { readonly set: unknown; readonly unset: unknown },
  ) => {
    const compare = (variables: Variables, value: unknown) =>
      run(variables, async (running) => {
        expect(await look(running)).toEqual(value);
      });
    return {
      set: () => compare(env, expected.set),
      unset: () => compare({}, expected.unset),
    };
  };
}

/** The effects of which the tests only need the service with one model. */
export const shown = shownIn<Served>((env, use) => serving({ env }, use));

export type Effects = Readonly<Record<string, Effect>>;

export interface Served {
  readonly service: RunningService;
  readonly origin: string;
  /** Of an account of the default tier. */
  readonly key: string;
  readonly provider: ScriptedProvider;
}

export interface Serving extends Omit<ServiceOptions, 'env'> {
  /** Over those of {@link startService}; an empty value unsets. */
  readonly env?: Readonly<Record<string, string>>;
  /** Members over those of the one upstream. */
  readonly upstream?: object;
  /** Members over those of the one model. */
  readonly model?: object;
  /** Members over those of the one route. */
  readonly route?: object;
}

/** Runs the service in this process as in production, with one model of one scripted provider, for as long as `use` takes. */
export async function serving(
  { env, upstream, model, route, ...options }: Serving,
  use: (served: Served) => Promise<void>,
): Promise<void> {
  const provider = await ScriptedProvider.start();
  const usual = routesTo([provider]);
  const service = await startService({
    upstreams: { acme: { ...usual.upstreams['acme'], ...upstream } },
    models: usual.models.map((one) => ({
      ...one,
      routes: [{ upstream: 'acme', model: 'acme-model', ...route }],
      ...model,
    })),
    ...options,
    env: { NODE_ENV: 'production', ...env },
  });
  try {
    const { key } = await service.createKey({ email: 'someone@example.com' });
    await use({ service, origin: service.origin, key, provider });
  } finally {
    await service.stop();
    await provider.stop();
  }
}
