import { expect, it, vi } from 'vitest';
import { DrainState } from '../../../src/common/drain-state.js';

it('the begin of the stop is told once to each listener that has not ended this', () => {
  const state = new DrainState();
  const [told, ended] = [vi.fn(), vi.fn()];
  state.whenBegun(told);
  state.whenBegun(ended)();
  expect(state.isDraining).toBe(false);
  state.begin();
  state.begin();
  expect(state.isDraining).toBe(true);
  expect(told).toHaveBeenCalledOnce();
  expect(ended).not.toHaveBeenCalled();
});
