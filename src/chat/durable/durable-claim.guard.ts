import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { principalOf } from '../../auth/principal/current-principal.decorator.js';
import type { Principal } from '../../auth/principal/principal.js';
import { ServiceError } from '../../common/service-error.js';
import { RequestBodies } from '../../http/body/request-bodies.js';
import { LimitStore } from '../../throttling/limit-store.js';
import { StreamPlaces } from '../../throttling/process-load/stream-places.js';
import { ChatRequest } from '../request/chat-request.dto.js';
import { DURABLE, type DurableRequest } from './durable-request.js';
import { checkedIdempotencyKey, IDEMPOTENCY_KEY_HEADER } from './identity/idempotency-key.js';
import { locatorOf, requestKey, type RequestKey } from './identity/stream-identity.js';
import { CLAIM_RELEASED } from './log/stream-log.js';
import { DurableStreams } from './durable-streams.js';
import { StreamStore, type Claim, type KeptStream } from './store/stream-store.js';

type NewClaim = Extract<Claim, { outcome: 'new' }>;

/**
 * Global guard: takes the key of a request with an `Idempotency-Key` before the limits of the tier count the request. A
 * request that repeats another one is not counted. Costs a look at one header for other requests.
 *
 * The guard refuses nothing itself. The guard of the limits sets the limit headers of a repeated or refused request, and the
 * controller of the route throws the error.
 */
@Injectable()
export class DurableClaimGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly bodies: RequestBodies,
    private readonly places: StreamPlaces,
    private readonly store: StreamStore,
    private readonly streams: DurableStreams,
    @Inject(LimitStore) private readonly limits: LimitStore,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const sent = request.headers[IDEMPOTENCY_KEY_HEADER];
    if (sent === undefined || this.reflector.get<boolean | undefined>(DURABLE, context.getHandler()) !== true) {
      return true;
    }
    return this.look(context, request, sent);
  }

  private async look(context: ExecutionContext, request: Request, sent: string | string[]): Promise<boolean> {
    const response = context.switchToHttp().getResponse<Response>();
    let durable: DurableRequest | undefined;
    try {
      durable = await this.requested(context, request, response, sent);
    } catch (error) {
      durable = { kind: 'refused', error: error as Error };
    }
    if (durable === undefined) return true;
    request.context.durable = durable;
    request.context.isRepeated = durable.kind !== 'new';
    return true;
  }

  /** Returns `undefined` for a request that the next guards refuse. */
  private async requested(
    context: ExecutionContext,
    request: Request,
    response: Response,
    sent: string | string[],
  ): Promise<DurableRequest | undefined> {
    const idempotencyKey = checkedIdempotencyKey(sent);
    const principal = principalOf(request);
    if (await this.isRefusedAnyway(principal, idempotencyKey)) return undefined;
    const { error } = await this.bodies.read(context, ChatRequest);
    if (error !== undefined) return undefined;
    const body = request.body as ChatRequest;
    const key = await requestKey(principal.accountId, idempotencyKey, body);
    return this.claim(key, requestBytes(body), request, response);
  }

  /** Whether the guard of the limits refuses the request for certain. The body of such a request is not read. */
  private async isRefusedAnyway({ accountId, tier }: Principal, idempotencyKey: string): Promise<boolean> {
    if (!this.places.isOverloaded && this.limits.foresee?.(accountId, tier) === undefined) return false;
    return !(await this.store.knows(locatorOf(accountId, idempotencyKey)));
  }

  private async claim(key: RequestKey, bytes: number, request: Request, response: Response): Promise<DurableRequest> {
    for (;;) {
      this.streams.refuseWhileDraining();
      const claim = await this.store.claim(key, bytes);
      switch (claim.outcome) {
        case 'conflict':
          throw new ServiceError('idempotency_conflict', 'The Idempotency-Key was used with another body.');
        case 'new': {
          refuseContinuation(request, claim);
          const claimed: DurableRequest = { kind: 'new', stream: claim.stream, isTaken: false };
          whenClosed(response, () => {
            claim.leave();
            // Another guard has refused the request, or the client has left before the generation.
            if (!claimed.isTaken) claim.stream.abandon(CLAIM_RELEASED);
          });
          return claimed;
        }
        case 'found':
          if (await this.hasBegun(claim.stream, response)) return { kind: 'repeated', stream: claim.stream };
      }
    }
  }

  /** Waits until the stream has begun. Returns false when the key was given up, so that it can be claimed again. */
  private async hasBegun(stream: KeptStream, response: Response): Promise<boolean> {
    const leave = await this.streams.enter(stream, response, this.places);
    try {
      await stream.log.begun;
      return true;
    } catch (error) {
      leave();
      if (error !== CLAIM_RELEASED || response.closed) throw error;
      return false;
    }
  }
}

/**
 * Refuses a request that asks for the rest of a stream which is not kept. A new answer would not fit to the text that the
 * client has.
 */
function refuseContinuation({ headers }: Request, { stream, leave }: NewClaim): void {
  if ((headers['last-event-id'] ?? '') === '') return;
  stream.abandon(CLAIM_RELEASED);
  leave();
  throw new ServiceError(
    'not_found',
    'The stream is not kept any longer. Send the request without Last-Event-ID to generate a new answer.',
  );
}

function whenClosed(response: Response, listener: () => void): void {
  if (response.closed) listener();
  else response.once('close', listener);
}

/** Estimates the memory of a request that its generation holds. */
function requestBytes({ messages }: ChatRequest): number {
  return messages.reduce((sum, { content }) => sum + content.length, 0);
}
