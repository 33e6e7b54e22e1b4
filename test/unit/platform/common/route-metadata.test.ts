import { Reflector } from '@nestjs/core';
import { describe, expect, it, vi } from 'vitest';
import { RouteMetadata } from '../../../../src/platform/common/route-metadata.js';

class First {
  list(): void {
    // Never called.
  }
}
class Second {
  list(): void {
    // Never called.
  }
}

Reflect.defineMetadata('limit', 5, First);
Reflect.defineMetadata('limit', 7, First.prototype.list);

describe('the metadata of routes', () => {
  it('is that of the reflector, for each handler and class', () => {
    const metadata = new RouteMetadata();
    for (let read = 0; read < 2; read += 1) {
      expect(metadata.get('limit', First)).toBe(5);
      expect(metadata.get('limit', Second)).toBeUndefined();
      expect(metadata.get('other', First)).toBeUndefined();
      expect(metadata.getAllAndOverride('limit', [First.prototype.list, First])).toBe(7);
      expect(metadata.getAllAndOverride('limit', [Second, First])).toBe(5);
    }
  });

  it('is read once, also where there is none', () => {
    const read = vi.spyOn(Reflector.prototype, 'get');
    const metadata = new RouteMetadata();
    for (const target of [First, Second, First, Second]) metadata.get('limit', target);
    expect(read).toHaveBeenCalledTimes(2);
  });
});
