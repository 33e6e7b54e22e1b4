import type { Response } from 'express';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { REPLAYED_BYTES_PER_MINUTE, ReplayRate } from '../../../../src/plugins/durable/replay-rate.js';

const MINUTE_MS = 60_000;
const MIN_BYTES = 4 * 1024;

let rate: ReplayRate;
let response: { req: { context: object }; setHeader: ReturnType<typeof vi.fn> };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  rate = new ReplayRate();
  response = { req: { context: {} }, setHeader: vi.fn() };
});

const begin = (accountId: string) => rate.begin(accountId, response as unknown as Response);
const accounts = (): number => (Reflect.get(rate, 'used') as Map<string, number>).size;
const refused = (retryAfterSeconds: number) =>
  expect.objectContaining({ code: 'rate_limit_exceeded', retryAfterSeconds }) as Error;

describe('the rate of an account for replays', () => {
  it('ends with the replay that exhausts it, until the end of the minute and for this account only', () => {
    const read = begin('ada');
    vi.advanceTimersByTime(15_000);
    read(REPLAYED_BYTES_PER_MINUTE - 1);
    begin('bob')(1);
    read(1);
    expect(() => begin('ada')).toThrow(refused(45));
    begin('bob');
    vi.advanceTimersByTime(45_000);
    begin('ada');
  });

  it('refuses with the headers of the rate, in bytes', () => {
    begin('ada')(REPLAYED_BYTES_PER_MINUTE);
    expect(() => begin('ada')).toThrow(refused(60));
    expect(response.setHeader.mock.calls).toEqual([
      ['X-RateLimit-Limit', REPLAYED_BYTES_PER_MINUTE],
      ['X-RateLimit-Remaining', 0],
      ['X-RateLimit-Reset', 60],
    ]);
    expect(response.req.context).toMatchObject({ refusedBy: 'replays' });
  });

  it('counts what was read above it for the next minutes', () => {
    const replays = [begin('ada'), begin('ada'), begin('ada')];
    for (const read of replays) read(REPLAYED_BYTES_PER_MINUTE);
    expect(() => begin('ada')).toThrow(refused(180));
    vi.advanceTimersByTime(2 * MINUTE_MS);
    expect(() => begin('ada')).toThrow(refused(60));
    vi.advanceTimersByTime(MINUTE_MS);
    begin('ada');
  });

  it('counts at least 4 KiB for each replay, and no byte twice', () => {
    const most = REPLAYED_BYTES_PER_MINUTE / MIN_BYTES;
    for (let replay = 0; replay < most - 1; replay++) begin('ada')(MIN_BYTES);
    const last = begin('ada');
    last(1);
    expect(() => begin('ada')).toThrow(refused(60));
  });

  it('lets readers reconnect every second, in each of 100 tabs', () => {
    for (let second = 0; second < 120; second++) {
      for (let tab = 0; tab < 100; tab++) begin('ada')(500);
      vi.advanceTimersByTime(1_000);
    }
  });

  it('is removed when it is whole again', () => {
    begin('ada')(REPLAYED_BYTES_PER_MINUTE);
    begin('bob');
    expect(accounts()).toBe(2);
    vi.advanceTimersByTime(MINUTE_MS);
    begin('eve');
    expect(accounts()).toBe(1);
  });
});
