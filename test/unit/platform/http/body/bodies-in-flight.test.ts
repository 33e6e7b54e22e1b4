import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { ShedLoad } from '../../../../../src/platform/common/shed-load.js';
import {
  BodiesInFlight,
  type BodyReservation,
  type BodyClient,
} from '../../../../../src/platform/http/body/bodies-in-flight.js';

const MIB = 1024 * 1024;
const MAX_BYTES = 64 * MIB;

const client = (key: string, limits: Partial<BodyClient> = {}): BodyClient => ({
  key,
  maxArriving: Infinity,
  maxBytes: Infinity,
  ...limits,
});

describe('the bodies in flight', () => {
  let shed: ShedLoad;
  let bodies: BodiesInFlight;

  beforeEach(() => {
    shed = new ShedLoad();
    bodies = new BodiesInFlight(MAX_BYTES, shed);
  });

  const begin = (of: BodyClient, bytes = 0, isHere = false) => bodies.begin(of, { bytes, isHere });
  const counted = () => Object.fromEntries(shed.counts);

  it('of one client are limited in bytes until their requests are over, however they arrive', () => {
    const one = client('one', { maxBytes: 10 * MIB });
    const first = begin(one);
    first.add(6 * MIB);
    first.arrived();

    expect(() => begin(one, 5 * MIB)).toThrow(expect.objectContaining({ code: 'concurrency_limit_exceeded' }));
    const second = begin(one);
    second.add(4 * MIB);
    expect(() => {
      second.add(1);
    }).toThrow(expect.objectContaining({ code: 'concurrency_limit_exceeded' }));
    second.release();
    first.release();
    expect(bodies).toMatchObject({ arriving: { total: 0 }, bytes: { total: 0 } });
    begin(one, 10 * MIB).add(10 * MIB);
  });

  it('of one client use no more than half of the memory for all', () => {
    expect(() => begin(client('one'), MAX_BYTES / 2 + 1)).toThrow(
      expect.objectContaining({ code: 'concurrency_limit_exceeded' }),
    );
  });

  it('of all clients are limited in bytes, and the last quarter is for small ones', () => {
    for (const key of ['one', 'two', 'three']) begin(client(key)).add(16 * MIB);

    expect(() => begin(client('four'), MIB)).toThrow(
      expect.objectContaining({ code: 'unavailable', retryAfterSeconds: 5 }),
    );
    const chunked = begin(client('four'));
    chunked.add(60_000);
    expect(() => {
      chunked.add(60_000);
    }).toThrow(expect.objectContaining({ code: 'unavailable' }));
    begin(client('five'), 64 * 1024).add(64 * 1024);
    expect(counted()).toMatchObject({ account_bodies: 0, all_bodies: 2 });
  });

  it('leave nothing behind when they are released, in whatever order and however often', () => {
    const step = fc.record({
      key: fc.constantFrom('a', 'b'),
      bytes: fc.nat({ max: MIB }),
      arrives: fc.boolean(),
      of: fc.nat(),
    });
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const reserved: BodyReservation[] = [];
        for (const { key, bytes, arrives, of } of steps) {
          const reservation = begin(client(key), 0, arrives);
          reservation.add(bytes);
          reserved.push(reservation);
          if (arrives) reserved[of % reserved.length]?.release();
          else reserved[of % reserved.length]?.arrived();
        }
        for (const reservation of reserved) {
          reservation.release();
          reservation.release();
        }
        // All of the memory is there again, and the number.
        for (const key of ['a', 'b']) {
          const whole = begin(client(key, { maxArriving: 1, maxBytes: 24 * MIB }), 24 * MIB);
          whole.add(24 * MIB);
          reserved.push(whole);
        }
        for (const reservation of reserved) reservation.release();
      }),
    );
  });
});
