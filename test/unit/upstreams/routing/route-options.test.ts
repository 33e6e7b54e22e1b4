import { describe, expect, it } from 'vitest';
import type { ModelConfig, RouteConfig } from '../../../../src/platform/config/config.js';
import type { GenerationOption, GenerationOptions } from '../../../../src/platform/config/capabilities.js';
import type { OptionNames, Protocol } from '../../../../src/upstreams/contract/protocol.js';
import { optionsForRoute, withRoutesFor } from '../../../../src/upstreams/routing/route-options.js';

const protocolWith = (generationOptions?: OptionNames) => ({ generationOptions }) as Protocol;
const FULL = protocolWith({ temperature: 'temperature', top_p: 'top_p', seed: 'seed' });
const NONE = protocolWith();

const routeTo = (model: string, ...unsupportedOptions: GenerationOption[]) =>
  ({ model, unsupportedOptions }) as unknown as RouteConfig;

/** The names of the routes that take these options. */
function routesFor(options: GenerationOptions, routes: readonly RouteConfig[], protocol = FULL): string[] {
  const model = { id: 'acme/fast', sticky: true, routes } as unknown as ModelConfig;
  return withRoutesFor(model, options, () => protocol).routes.map((route) => route.model);
}

describe('the routes that take the options of a request', () => {
  it('are all routes of the model for a request without options', () => {
    const model = { id: 'acme/fast', routes: [routeTo('a', 'temperature')] } as unknown as ModelConfig;
    expect(withRoutesFor(model, { temperature: 0.7, top_p: undefined }, () => NONE)).toBe(model);
  });

  it('leave out a route that does not take one of them', () => {
    const routes = [routeTo('a', 'seed'), routeTo('b'), routeTo('c', 'temperature')];
    expect(routesFor({ temperature: 1, seed: 7 }, routes)).toEqual(['b', 'c']);
  });

  it.each([
    ['the routes exclude', FULL, ['seed'], 'is not supported by the model acme/fast'],
    ['the protocol does not have', NONE, ['top_p', 'seed'], 'is not supported by the model acme/fast'],
  ])('are none for an option that %s', (_, protocol, fields, message) => {
    const details = fields.map((field) => ({ field, message }));
    expect(() => routesFor({ top_p: 0.5, seed: 7 }, [routeTo('a', 'seed'), routeTo('b', 'seed')], protocol)).toThrow(
      expect.objectContaining({ code: 'invalid_request', details }),
    );
  });

  it('are none for options that only different routes take', () => {
    const message = 'is not supported by the model acme/fast together with the other options';
    expect(() => routesFor({ top_p: 0.5, seed: 7 }, [routeTo('a', 'seed'), routeTo('b', 'top_p')])).toThrow(
      expect.objectContaining({ details: ['top_p', 'seed'].map((field) => ({ field, message })) }),
    );
  });
});

describe('the options for a route', () => {
  it('are the same object when the route accepts the temperature', () => {
    const options = { temperature: 1, seed: 7 };
    expect(optionsForRoute(options, FULL, routeTo('a'), {})).toBe(options);
  });

  it('have no temperature when the route does not take it', () => {
    expect(optionsForRoute({ temperature: 1, seed: 7 }, FULL, routeTo('a', 'temperature'), {})).toEqual({ seed: 7 });
  });
});
