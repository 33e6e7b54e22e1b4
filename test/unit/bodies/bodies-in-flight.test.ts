import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { ShedLoad } from '../../../src/common/shed-load.js';
import { BodiesInFlight, type BodyHold } from '../../../src/http/body/bodies-in-flight.js';
import type { BodyParty } from '../../../src/http/body/body-parties.js';

const MIB = 1024 * 1024;
const MOST_BYTES = 64 * MIB;

const party = (key: string, limits: Partial<BodyParty> = {}): BodyParty => ({
  key,
  mostArriving: Infinity,
  mostBytes: Infinity,
  ...limits,
});

describe('the bodies in flight', () => {
  let shed: ShedLoad;
  let bodies: BodiesInFlight;

  beforeEach(() => {
    shed = new ShedLoad();
    bodies = new BodiesInFlight(MOST_BYTES, shed);
  });

  const begin = (of: BodyParty, bytes = 0, isHere = false) => bodies.begin(of, { bytes, isHere });
  const counted = () => Object.fromEntries(shed.counts);

  it('of one party are limited in number while they arrive', () => {
    const one = party('one', { mostArriving: 2 });
    const holds = [begin(one), begin(one)];

    expect(() => begin(one)).toThrow(
      expect.objectContaining({ code: 'concurrency_limit_exceeded', retryAfterSeconds: 1 }),
    );
    expect(counted()).toMatchObject({ account_bodies: 1, all_bodies: 0 });
    begin(party('two', { mostArriving: 2 }));
    // One that is there already waits for nobody.
    begin(one, 100, true);
    holds[0]?.arrived();
    begin(one);
  });

  it('of one party are limited in bytes until their requests are over, however they arrive', () => {
    const one = party('one', { mostBytes: 10 * MIB });
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
    expect(bodies).toMatchObject({ all: { arriving: 0, bytes: 0 } });
    begin(one, 10 * MIB).add(10 * MIB);
  });

  it('of one party take no more than half of the memory for all', () => {
    expect(() => begin(party('one'), MOST_BYTES / 2 + 1)).toThrow(
      expect.objectContaining({ code: 'concurrency_limit_exceeded' }),
    );
  });

  it('of all parties are limited in bytes, and the last quarter is for small ones', () => {
    for (const key of ['one', 'two', 'three']) begin(party(key)).add(16 * MIB);

    expect(() => begin(party('four'), MIB)).toThrow(
      expect.objectContaining({ code: 'unavailable', retryAfterSeconds: 5 }),
    );
    const chunked = begin(party('four'));
    chunked.add(60_000);
    expect(() => {
      chunked.add(60_000);
    }).toThrow(expect.objectContaining({ code: 'unavailable' }));
    begin(party('five'), 64 * 1024).add(64 * 1024);
    expect(counted()).toMatchObject({ account_bodies: 0, all_bodies: 2 });
  });

  it('of all parties are limited in number while they arrive', () => {
    const most = MOST_BYTES / (64 * 1024);
    for (let number = 0; number < most; number++) begin(party(String(number)));

    expect(() => begin(party('more'))).toThrow(expect.objectContaining({ code: 'unavailable' }));
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
        const held: BodyHold[] = [];
        for (const { key, bytes, arrives, of } of steps) {
          const hold = begin(party(key), 0, arrives);
          hold.add(bytes);
          held.push(hold);
          if (arrives) held[of % held.length]?.release();
          else held[of % held.length]?.arrived();
        }
        for (const hold of held) {
          hold.release();
          hold.release();
        }
        // All of the memory is there again, and the number.
        for (const key of ['a', 'b']) {
          const whole = begin(party(key, { mostArriving: 1, mostBytes: 24 * MIB }), 24 * MIB);
          whole.add(24 * MIB);
          held.push(whole);
        }
        for (const hold of held) hold.release();
      }),
    );
  });
});
