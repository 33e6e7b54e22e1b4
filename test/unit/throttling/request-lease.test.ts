import { EventEmitter } from 'node:events';
import type { Response } from 'express';
import { beforeEach, describe, expect, it } from 'vitest';
import { RequestLease } from '../../../src/throttling/request-lease.js';

class FakeResponse extends EventEmitter {
  constructor(readonly closed = false) {
    super();
  }
}

describe('the lease that a request holds', () => {
  let slots: { takenInTiers: number };
  let calls: string[];

  beforeEach(() => {
    slots = { takenInTiers: 0 };
    calls = [];
  });

  function hold(response: FakeResponse, holdsSlot = true): RequestLease {
    const lease = {
      tokens: 7,
      release: () => calls.push('release'),
      settle: (used: number) => calls.push(`settle ${used}`),
    };
    const admitted = { giveBack: () => Promise.resolve(), shortage: () => undefined };
    return new RequestLease(lease, response as unknown as Response, slots, holdsSlot, admitted);
  }

  it('keeps its slot and its tokens beyond the response once it is outlived, until the caller releases them', () => {
    const response = new FakeResponse();
    const lease = hold(response);
    const outlived = lease.outlive();
    expect(outlived.tokens).toBe(7);
    response.emit('close');
    lease.release();
    expect({ calls, count: slots.takenInTiers }).toEqual({ calls: [], count: 1 });

    outlived.takeOver();
    outlived.settle(5);
    expect({ calls, count: slots.takenInTiers }).toEqual({ calls: [], count: 1 });
    outlived.release();
    expect({ calls, count: slots.takenInTiers }).toEqual({ calls: ['release', 'settle 5'], count: 0 });
  });

  it('adds up the tokens of all completions of the request, also of one that ends after the response', () => {
    const response = new FakeResponse();
    const lease = hold(response);
    const part = lease.part();
    part.takeOver();
    part.settle(3);
    part.release();
    expect([lease.tokens, part.tokens]).toEqual([4, 4]);
    lease.takeOver();
    lease.takeOver();
    lease.settle(2);
    response.emit('close');
    expect({ calls, count: slots.takenInTiers }).toEqual({ calls: ['release'], count: 0 });
    lease.settle(20);
    expect([calls, lease.tokens]).toEqual([['release', 'settle 25'], 0]);
  });

  it('keeps its slot and its tokens until the response closes, whatever a completion that has not begun releases', () => {
    const response = new FakeResponse();
    const lease = hold(response);
    lease.settle(0);
    lease.release();
    expect({ calls, count: slots.takenInTiers }).toEqual({ calls: [], count: 1 });
    response.emit('close');
    expect({ calls, count: slots.takenInTiers }).toEqual({ calls: ['release', 'settle 0'], count: 0 });
  });
});
