import { Inject, Injectable, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { principalOf } from '../../auth/principal/principal.js';
import { CONFIG, type Config } from '../../platform/config/config.js';
import { RepeatedRequests } from '../../throttling/request-limiter.js';
import { DURABLE } from './durable-request.js';
import { checkedIdempotencyKey, IDEMPOTENCY_KEY_HEADER } from './identity/idempotency-key.js';
import { locatorOf } from './identity/stream-identity.js';
import { StreamStore } from './store/stream-store.js';

/** Recognizes requests whose `Idempotency-Key` is in use. Their body decides afterwards, see `DurableClaimGuard`. */
@Injectable()
export class KnownIdempotencyKeys implements RepeatedRequests {
  constructor(
    private readonly reflector: Reflector,
    private readonly store: StreamStore,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  async isRepeat(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const sent = request.headers[IDEMPOTENCY_KEY_HEADER];
    if (sent === undefined || !this.config.builtInPlugins.has('durable')) return false;
    if (this.reflector.get<unknown>(DURABLE, context.getHandler()) === undefined) return false;
    return this.store.knows(locatorOf(principalOf(request).accountId, checkedIdempotencyKey(sent)));
  }
}
