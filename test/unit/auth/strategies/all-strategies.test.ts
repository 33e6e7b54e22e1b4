import type { OpenAPIObject } from '@nestjs/swagger';
import { describe, expect, it } from 'vitest';
import { describeStrategies, type StrategyType } from '../../../../src/auth/strategies/all-strategies.js';

const SCHEME = { type: 'apiKey', in: 'header', name: 'X-Badge' } as const;

const strategy = (strategyName: string, securityScheme?: typeof SCHEME) =>
  ({ strategyName, securityScheme }) as unknown as StrategyType;

describe('the security schemes of plugins', () => {
  const documentWith = (components?: OpenAPIObject['components']) =>
    ({
      openapi: '3.0.0',
      info: { title: '', version: '' },
      ...(components !== undefined && { components }),
      paths: {
        '/closed': { get: { responses: {}, security: [{ bearer: [] }] } },
        '/open': { get: { responses: {} } },
      },
    }) as OpenAPIObject;

  it('stand once in each of several operations that share their list', () => {
    const security = [{ bearer: [] }];
    const document = documentWith();
    document.paths = { '/shared': { get: { responses: {}, security }, delete: { responses: {}, security } } };
    describeStrategies(document, [strategy('badge', SCHEME)]);
    const { get, delete: remove } = document.paths['/shared'] ?? {};
    expect(get?.security).toEqual([{ bearer: [] }, { badge: [] }]);
    expect(remove?.security).toEqual(get?.security);
  });
});
