import { Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';

type Target = Parameters<Reflector['get']>[1];

/**
 * Reads the metadata of routes like `Reflector`, but each only once: decorators have run when the first request arrives. The
 * guards read about twenty for each request, and the library searches all prototypes for each.
 */
@Injectable()
export class RouteMetadata extends Reflector {
  private readonly known = new WeakMap<Target, Map<unknown, unknown>>();

  override get(key: Parameters<Reflector['get']>[0], target: Target): never {
    let ofTarget = this.known.get(target);
    if (ofTarget === undefined) this.known.set(target, (ofTarget = new Map()));
    let value = ofTarget.get(key);
    if (value === undefined && !ofTarget.has(key))
      ofTarget.set(key, (value = super.get<unknown>(key as string, target)));
    return value as never;
  }
}
