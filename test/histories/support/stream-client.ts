import type { ExecutionContext } from '@nestjs/common';
import type { Response } from 'express';
import { EventEmitter } from 'node:events';
import type { Principal } from '../../../src/auth/principal/principal.js';
import type { ChatCaller } from '../../../src/chat/chat-caller.js';
import type { DurableFacts } from '../../../src/chat/durable-request.js';
import { ClaimedRequest } from '../../../src/plugins/durable/durable-request.js';
import { ServiceError } from '../../../src/platform/common/service-error.js';
import { toServiceError } from '../../../src/platform/http/errors/to-service-error.js';
import { clientGone } from '../../../src/platform/http/request/client-gone.js';
import type { RequestContext } from '../../../src/platform/http/request/request-context.js';
import type { StreamReplica } from './stream-replica.js';
import type { VirtualTime } from './virtual-time.js';

/** The response that a client waits for. */
class SimulatedResponse extends EventEmitter {
  closed = false;
  private readonly socket = { destroyed: false };
  readonly req: {
    headers: Record<string, string>;
    body: object;
    path: string;
    context: RequestContext;
    socket: object;
  };

  constructor(key: string, body: object, principal: Principal) {
    super();
    const context: RequestContext = { requestId: 'request', principal };
    this.req = { headers: { 'idempotency-key': key }, body, path: '/chat/stream', context, socket: this.socket };
  }

  setHeader(): this {
    return this;
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.socket.destroyed = true;
    this.emit('close');
  }
}

const NO_FACTS = { head: undefined, tail: () => undefined };

/** A client that sends one request for a durable stream, and what it gets. */
export class StreamClient {
  text = '';
  /** The name of the answer whose facts came with the head. */
  head: string | undefined;
  streamId: string | undefined;
  /** `done`, or the code of a failure. */
  end: string | undefined;
  headAtMs: number | undefined;
  overAtMs: number | undefined;
  /** The client has left, or its replica was killed. */
  hasLeft = false;
  readonly askedAtMs: number;
  private readonly response: SimulatedResponse;

  constructor(
    private readonly time: VirtualTime,
    readonly replica: StreamReplica,
    readonly key: string,
    private readonly principal: Principal,
  ) {
    this.askedAtMs = time.nowMs;
    const body = { model: 'acme/fast', messages: [{ role: 'user', content: key }] };
    this.response = new SimulatedResponse(key, body, principal);
  }

  get isOver(): boolean {
    return this.overAtMs !== undefined || this.hasLeft;
  }

  /** Sends a request with the key. @param isRefused whether the limits of the account refuse the request after its claim. */
  async ask(
    open: (caller: ChatCaller) => Promise<never>,
    hasFacts: boolean,
    name: string,
    isRefused: boolean,
  ): Promise<void> {
    await this.receive(open, { ...NO_FACTS, head: hasFacts ? name : undefined }, async () => {
      await this.claim();
      const { durable } = this.response.req.context;
      if (durable === undefined) throw new Error('The request is not durable.');
      if (isRefused && durable.kind === 'new') throw new ServiceError('rate_limit_exceeded', 'Too many requests.');
      return durable as ClaimedRequest;
    });
  }

  /** Asks for a stream by its id. */
  async follow(id: string): Promise<void> {
    const { streams, slots } = this.replica;
    const open = (): Promise<never> => Promise.reject(new Error('The stream has begun.'));
    await this.receive(open, NO_FACTS, async () => {
      const stream = await streams.find(id, this.principal);
      const reading = await streams.enter(stream, this.response as unknown as Response, slots);
      return new ClaimedRequest({ kind: 'repeated', stream, reading }, streams);
    });
  }

  /** Does what happens before the limits count the request. */
  async claim(): Promise<void> {
    const response = this.response as unknown as Response;
    const http = { getRequest: () => response.req, getResponse: () => response };
    const context = { switchToHttp: () => http, getHandler: () => this.ask } as unknown as ExecutionContext;
    await this.replica.keys.claim(context);
  }

  leave(): void {
    if (this.isOver) return;
    this.hasLeft = true;
    this.response.close();
  }

  private async receive(
    open: (caller: ChatCaller) => Promise<never>,
    facts: DurableFacts<string | undefined>,
    enter: () => Promise<ClaimedRequest>,
  ): Promise<void> {
    const response = this.response as unknown as Response;
    const { streams } = this.replica;
    try {
      const durable = await enter();
      const { requestId } = response.req.context;
      const caller: ChatCaller = { principal: this.principal, signal: clientGone(response), requestId };
      const { parts, head } = await streams.answer(durable.claimed, open, caller, response, facts);
      this.streamId = durable.streamId;
      this.head = head;
      this.headAtMs = this.time.nowMs;
      streams.attach(parts, caller, response);
      parts.onReadable = () => {
        this.read(parts);
      };
      this.read(parts);
    } catch (error) {
      this.over(toServiceError(error).code);
    }
  }

  private read(parts: { read(): { type: string; text?: string } | undefined; readonly isOver: boolean }): void {
    if (this.isOver) return;
    try {
      for (let part = parts.read(); part !== undefined; part = parts.read()) this.text += part.text ?? '';
      if (parts.isOver) this.over('done');
    } catch (error) {
      this.over(error instanceof ServiceError ? error.code : 'disconnected');
    }
  }

  private over(end: string): void {
    if (this.isOver) return;
    this.end = end;
    this.overAtMs = this.time.nowMs;
    this.response.close();
  }
}
