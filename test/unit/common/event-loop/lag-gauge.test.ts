import { describe, expect, it } from 'vitest';
import { LagGauge } from '../../../../src/common/event-loop/lag-gauge.js';

const EVERY_MS = 20;

describe('the gauge of the event loop', () => {
  /** Timers that each come late by so much, for so long. */
  function late(gauge: LagGauge, lagMs: number, forMs: number): LagGauge {
    for (let passedMs = 0; passedMs < forMs; passedMs += EVERY_MS + lagMs) gauge.add(EVERY_MS + lagMs, lagMs);
    return gauge;
  }

  it('is high after seconds of lag', () => {
    const gauge = late(new LagGauge(), 250, 1_500);
    expect(gauge.isHigh).toBe(false);
    expect(late(gauge, 250, 1_000).isHigh).toBe(true);
  });

  it('is not high after one delay, however long, nor after rare ones', () => {
    const gauge = new LagGauge();
    late(gauge, 10_000, 1);
    expect(gauge.isHigh).toBe(false);
    for (let round = 0; round < 20; round++) {
      late(gauge, 0, 1_000);
      late(gauge, 800, 1);
      expect(gauge.isHigh).toBe(false);
    }
  });

  it('stays low with a lag that is small, for ever', () => {
    expect(late(new LagGauge(), 190, 60_000).isHigh).toBe(false);
  });

  it('is low again only when the lag has been small for a while', () => {
    const gauge = late(new LagGauge(), 300, 5_000);
    expect(late(gauge, 0, 1_500).isHigh).toBe(true);
    expect(late(gauge, 150, 100).isHigh).toBe(true);
    expect(late(gauge, 0, 1_500).isHigh).toBe(true);
    expect(late(gauge, 0, 600).isHigh).toBe(false);
  });
});
