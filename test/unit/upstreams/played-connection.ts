import type { Dispatcher } from 'undici';
import type { Connection } from '../../../src/upstreams/transport/connection-pool.js';

export const turn = () => new Promise(setImmediate);

const STREAM = { 'content-type': 'text/event-stream' };

/** A connection whose answer the test plays. It notes what becomes of the answer, and of the connection. */
export class PlayedConnection implements Connection {
  readonly sent: Dispatcher.DispatchOptions[] = [];
  readonly events: string[] = [];
  readonly client: Dispatcher;
  private handler!: Dispatcher.DispatchHandler;
  private readonly controller = {
    paused: false,
    pause: () => {
      this.controller.paused = true;
      this.events.push('pause');
    },
    resume: () => {
      this.controller.paused = false;
      this.events.push('resume');
    },
    abort: (reason: Error) => {
      this.events.push(`abort: ${reason.message}`);
    },
  } as Dispatcher.DispatchController & { paused: boolean };

  constructor({ reused = false, isOpen = true } = {}) {
    this.reused = reused;
    const dispatch = (options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean => {
      this.sent.push(options);
      this.handler = handler;
      if (isOpen) this.open();
      return true;
    };
    this.client = { dispatch } as unknown as Dispatcher;
  }

  readonly reused: boolean;

  open(): this {
    this.handler.onRequestStart?.(this.controller, {});
    return this;
  }

  head(status = 200, headers: Record<string, string | string[]> = STREAM): this {
    this.handler.onResponseStart?.(this.controller, status, headers);
    return this;
  }

  data(bytes: string): this {
    this.handler.onResponseData?.(this.controller, Buffer.from(bytes));
    return this;
  }

  end(): this {
    this.handler.onResponseEnd?.(this.controller, {});
    return this;
  }

  breaks(code = 'ECONNRESET'): this {
    this.handler.onResponseError?.(this.controller, Object.assign(new Error(`It broke: ${code}`), { code }));
    return this;
  }

  spare(): void {
    this.events.push('spare');
  }

  release(): void {
    this.events.push('release');
  }

  lend(): void {
    this.events.push('lend');
  }
}
