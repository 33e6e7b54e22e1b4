import { EventEmitter } from 'node:events';
import type { Response } from 'express';
import { beforeEach, describe, expect, it } from 'vitest';
import type { EventLoop } from '../../../../src/platform/common/event-loop/event-loop.js';
import { ShedLoad } from '../../../../src/platform/common/shed-load.js';
import type { Config } from '../../../../src/platform/config/config.js';
import { StreamSlots } from '../../../../src/throttling/process-load/stream-slots.js';

const response = (closed = false) => Object.assign(new EventEmitter(), { closed }) as unknown as Response;

describe('the slots for streams in a process', () => {
  let eventLoop: { isOverloaded: boolean };
  let shedLoad: ShedLoad;
  let slots: StreamSlots;

  beforeEach(() => {
    eventLoop = { isOverloaded: false };
    shedLoad = new ShedLoad();
    slots = new StreamSlots({ maxStreams: 2 } as Config, eventLoop as EventLoop, shedLoad);
  });

  const shed = () => Object.fromEntries([...shedLoad.counts].filter(([, count]) => count > 0));
  const refused = { code: 'unavailable', retryAfterSeconds: 5 };

  it('are refused when all are in use, until one is released or its response is over', () => {
    const first = response();
    const release = slots.take(response());
    expect(slots.refusal()).toBeUndefined();
    slots.take(first);
    const full = { ...refused, message: 'This process has as many open streams as it can hold. Try again.' };
    expect(slots.refusal()).toMatchObject(full);
    expect(() => slots.take(response())).toThrow(expect.objectContaining(full));
    expect(shed()).toEqual({ streams: 2 });

    first.emit('close');
    expect(slots.refusal()).toBeUndefined();
    slots.take(response());
    expect(slots.refusal()).toMatchObject(refused);
    release();
    release();
    expect(slots.refusal()).toBeUndefined();
    slots.take(response());
    expect(slots.refusal()).toMatchObject(refused);
  });

  it('are not acquired by a response that is over already', () => {
    for (let count = 0; count < 5; count++) slots.take(response(true));
    expect(slots.refusal()).toBeUndefined();
  });

  it('are refused while the event loop is overloaded', () => {
    eventLoop.isOverloaded = true;
    expect(slots.refusal()).toMatchObject({ ...refused, message: 'This process is overloaded. Try again.' });
    expect(shed()).toEqual({ event_loop: 1 });
  });
});
