import type { Provider, Type } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { CreateApplication } from '../../platform/start/service.js';

/**
 * Returns what creates the application with these providers in place of the providers of the same tokens.
 *
 * @throws {Error} without the package `@nestjs/testing`.
 */
export async function creatorWith(overrides: readonly Exclude<Provider, Type>[]): Promise<CreateApplication> {
  const { Test } = await import('@nestjs/testing').catch((cause: unknown) => {
    throw new Error('Install @nestjs/testing to override providers or the clock.', { cause });
  });
  return async (module, adapter, options) => {
    const builder = Test.createTestingModule({ imports: [module] });
    if (options.logger) builder.setLogger(options.logger as never);
    for (const override of overrides) {
      const token = builder.overrideProvider(override.provide);
      if ('useClass' in override) token.useClass(override.useClass);
      else if ('useFactory' in override) {
        token.useFactory({ factory: override.useFactory as () => unknown, inject: (override.inject ?? []) as never[] });
      } else if ('useValue' in override) token.useValue(override.useValue);
      else throw new Error('An override needs useValue, useClass or useFactory.');
    }
    const compiled = await builder.compile();
    return compiled.createNestApplication<NestExpressApplication>(adapter, options);
  };
}
