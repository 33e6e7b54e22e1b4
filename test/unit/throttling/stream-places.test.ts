import { EventEmitter } from 'node:events';
import type { Response } from 'express';
import { beforeEach, describe, expect, it } from 'vitest';
import type { EventLoop } from '../../../src/common/event-loop/event-loop.js';
import { ShedLoad } from '../../../src/common/shed-load.js';
import type { Config } from '../../../src/config/config.js';
import { StreamPlaces } from '../../../src/throttling/process-load/stream-places.js';

const response = (closed = false) => Object.assign(new EventEmitter(), { closed }) as unknown as Response;

describe('the places for streams in a process', () => {
  let eventLoop: { isOverloaded: boolean };
  let shedLoad: ShedLoad;
  let places: StreamPlaces;

  beforeEach(() => {
    eventLoop = { isOverloaded: false };
    shedLoad = new ShedLoad();
    places = new StreamPlaces({ maxStreams: 2 } as Config, eventLoop as EventLoop, shedLoad);
  });

  const shed = () => Object.fromEntries([...shedLoad.counts].filter(([, count]) => count > 0));
  const refused = { code: 'unavailable', retryAfterSeconds: 5 };

  it('are refused when all are taken, until one is given back or its response is over', () => {
    const first = response();
    const giveBack = places.take(response());
    expect(places.isOverloaded).toBe(false);
    places.take(first);
    expect(places.isOverloaded).toBe(true);
    const full = { ...refused, message: 'This process has as many open streams as it can hold. Try again.' };
    expect(places.refusal()).toMatchObject(full);
    expect(() => places.take(response())).toThrow(expect.objectContaining(full));
    expect(shed()).toEqual({ streams: 2 });

    first.emit('close');
    expect(places.refusal()).toBeUndefined();
    places.take(response());
    expect(places.refusal()).toMatchObject(refused);
    giveBack();
    giveBack();
    expect(places.refusal()).toBeUndefined();
    places.take(response());
    expect(places.refusal()).toMatchObject(refused);
  });

  it('are not taken by a response that is over already', () => {
    for (let count = 0; count < 5; count++) places.take(response(true));
    expect(places.refusal()).toBeUndefined();
  });

  it('are refused while the event loop is overloaded', () => {
    eventLoop.isOverloaded = true;
    expect(places.isOverloaded).toBe(true);
    expect(places.refusal()).toMatchObject({ ...refused, message: 'This process is overloaded. Try again.' });
    expect(shed()).toEqual({ event_loop: 1 });
  });
});
