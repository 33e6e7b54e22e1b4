import type { CallHandler, ExecutionContext } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import { NEVER, Subject, throwError, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { HeldHead, isHeadHeld } from '../../../src/chat/stream/held-head.js';
import { OpensStream } from '../../../src/throttling/process-load/opens-stream.decorator.js';

class Routes {
  @OpensStream()
  streams(): void {
    // Only its metadata counts.
  }

  answers(): void {
    // Has none.
  }
}

function held(answer: Observable<unknown>, route: keyof Routes = 'streams') {
  const response = { writableEnded: false } as ServerResponse;
  const prototype = Object.create({ writableEnded: false }) as ServerResponse;
  const target = route === 'streams' ? prototype : response;
  const context = {
    getHandler: () => Routes.prototype[route],
    switchToHttp: () => ({ getResponse: () => target }),
  } as unknown as ExecutionContext;
  const handled = new HeldHead().intercept(context, { handle: () => answer } as CallHandler);
  return { response: target, handled };
}

describe('the head of a response that streams', () => {
  it.each([
    [
      'an event',
      (answer: Subject<unknown>) => {
        answer.next({});
      },
    ],
    [
      'the end',
      (answer: Subject<unknown>) => {
        answer.complete();
      },
    ],
  ])('is held back until %s', (_, happen) => {
    const answer = new Subject();
    const { response, handled } = held(answer);
    handled.subscribe();
    expect([isHeadHeld(response), response.writableEnded]).toEqual([true, true]);
    happen(answer);
    expect([isHeadHeld(response), response.writableEnded]).toEqual([false, false]);
  });

  it('is held back until an error', () => {
    const { response, handled } = held(throwError(() => new Error('no')));
    expect(isHeadHeld(response)).toBe(true);
    handled.subscribe({ error: () => undefined });
    expect([isHeadHeld(response), response.writableEnded]).toEqual([false, false]);
  });

  it('is let go when its client leaves', () => {
    const { response, handled } = held(NEVER);
    handled.subscribe().unsubscribe();
    expect([isHeadHeld(response), response.writableEnded]).toEqual([false, false]);
  });

  it('is not held back for any other route', () => {
    const answer = new Subject();
    const { response, handled } = held(answer, 'answers');
    expect(handled).toBe(answer);
    expect([isHeadHeld(response), response.writableEnded]).toEqual([false, false]);
  });
});
