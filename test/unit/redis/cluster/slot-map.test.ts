import slotOf from 'cluster-key-slot';
import { describe, expect, it } from 'vitest';
import { SlotMap } from '../../../../src/redis/cluster/slot-map.js';

const LAST = 16_383;

const MIDDLE = 8_191;

const NAME = '127.0.0.1';

describe('the map of slots', () => {
  const master = (port: number) => ({ host: NAME, port });
  const half = (map: SlotMap) =>
    map.replace([
      { first: 0, last: MIDDLE, master: master(1) },
      { first: MIDDLE + 1, last: LAST, master: master(2) },
    ]);
  const probed = (map: SlotMap, port: number): string | undefined => {
    const key = map.probeKeyOf(`${NAME}:${port}`);
    return key === undefined ? undefined : map.ownerOf(key);
  };

  it('is complete when each slot has a master', () => {
    const map = new SlotMap();
    expect([map.isComplete, map.masters.size, map.ownerOf('key')]).toEqual([false, 0, undefined]);
    map.replace([{ first: 0, last: LAST - 1, master: master(1) }]);
    expect(map.isComplete).toBe(false);
    half(map);
    expect([map.isComplete, [...map.masters]]).toEqual([true, [`${NAME}:1`, `${NAME}:2`]]);
    expect(map.ownerOf('key')).toBe(`${NAME}:${slotOf('key') <= MIDDLE ? 1 : 2}`);
  });

  it('says which masters have new slots, and whose these were', () => {
    const map = new SlotMap();
    expect(half(map)).toEqual(new Map());
    expect(half(map)).toEqual(new Map());
    const taken = map.replace([{ first: 0, last: LAST, master: master(3) }]);
    expect(taken).toEqual(new Map([[`${NAME}:3`, new Set([`${NAME}:1`, `${NAME}:2`])]]));
  });

  it('has a key for probes in the slots of each master, also after these have changed', () => {
    const map = new SlotMap();
    half(map);
    expect([probed(map, 1), probed(map, 2), probed(map, 3)]).toEqual([`${NAME}:1`, `${NAME}:2`, undefined]);
    map.move(slotOf(map.probeKeyOf(`${NAME}:1`) ?? ''), `${NAME}:3`);
    expect([probed(map, 1), probed(map, 3)]).toEqual([`${NAME}:1`, `${NAME}:3`]);
    map.replace([{ first: 0, last: LAST, master: master(2) }]);
    expect([probed(map, 1), probed(map, 2)]).toEqual([undefined, `${NAME}:2`]);
  });
});
