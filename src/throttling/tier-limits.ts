import { LIMITS, LIMIT_NAMES, type LimitWindow, type TierLimits } from '../config/limits/limit-table.js';
import type { Limit } from './limit-store.js';

const LENGTHS: Readonly<Record<LimitWindow, number>> = { none: 0, minute: 1, day: 2, month: 3 };

/** The longest window first: the limit that refuses a request for the longest time is the one that the client hears of. */
const BY_WINDOW_LENGTH = LIMIT_NAMES.map((name) => ({
  name,
  unit: LIMITS[name].unit,
  window: LIMITS[name].window,
})).sort((a, b) => LENGTHS[b.window] - LENGTHS[a.window]);

/** Returns the limits that a tier has, for a limit store. */
export function limitsOf(tier: TierLimits): readonly Limit[] {
  const limits: Limit[] = [];
  for (const { name, unit, window } of BY_WINDOW_LENGTH) {
    const max = tier[name];
    if (max !== undefined) limits.push({ name, unit, window, max });
  }
  return limits;
}
