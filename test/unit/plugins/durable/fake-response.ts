import { EventEmitter } from 'node:events';
import type { Response } from 'express';
import { vi } from 'vitest';
import type { Principal } from '../../../../src/auth/principal/principal.js';

export const ADA = {
  accountId: 'ada',
  tier: { name: 'free' },
  credential: { kind: 'session', sessionId: 's1' },
} as Principal;

/** The response to a request, which nothing is sent on. */
export class FakeResponse extends EventEmitter {
  closed = false;
  readonly req: { headers: Record<string, string>; context: object; method: string };

  constructor(headers: Record<string, string> = {}) {
    super();
    this.req = { headers, context: { principal: ADA, requestId: 'request-1' }, method: 'POST' };
  }

  get asResponse(): Response {
    return this as unknown as Response;
  }

  setHeader = vi.fn<(name: string, value: string) => void>();

  leave(): void {
    this.closed = true;
    this.emit('close');
  }
}
