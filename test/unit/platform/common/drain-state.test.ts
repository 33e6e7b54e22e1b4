import { expect, it, vi } from 'vitest';
import { DrainState } from '../../../../src/platform/common/drain-state.js';

it('the start of the shutdown notifies each listener once, unless it was removed', () => {
  const state = new DrainState();
  const [notified, ended] = [vi.fn(), vi.fn()];
  state.whenStarted(notified);
  state.whenStarted(ended)();
  expect(state.isDraining).toBe(false);
  state.begin();
  state.begin();
  expect(state.isDraining).toBe(true);
  expect(notified).toHaveBeenCalledOnce();
  expect(ended).not.toHaveBeenCalled();
});

it('a listener that comes after the start of the shutdown is notified soon, unless it was removed', async () => {
  const state = new DrainState();
  state.begin();
  const [notified, ended] = [vi.fn(), vi.fn()];
  state.whenStarted(notified);
  state.whenStarted(ended)();
  expect(notified).not.toHaveBeenCalled();
  await Promise.resolve();
  expect(notified).toHaveBeenCalledOnce();
  expect(ended).not.toHaveBeenCalled();
});
