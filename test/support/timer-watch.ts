import { join } from 'node:path';
import { clearInterval, clearTimeout, setInterval, setTimeout } from 'node:timers';
import { callSites } from './call-sites.js';

/** The file in `src` that started a timer, such as `src/platform/common/timers/timeouts.ts`. */
type Place = string;

const ROOT = join(import.meta.dirname, '..', '..');
/** Modules of the service in this folder, as they are or as they are built. */
const PLACE = /^[/\\](?:src|dist)[/\\]([\w./\\-]+)\.(?:js|tsx?)$/;
const PACE = join('platform', 'common', 'timers', 'pace.');
/** A wait at the pace calls four functions before it starts its timer. */
const MAX_DEPTH = 8;
const running = new Map<NodeJS.Timeout, Place>();

/**
 * Starts to track the timers that the code of the service starts in this process, including timers that do not keep the process
 * alive. Call this once, before the code of the service is loaded. Timers of tests and libraries are not tracked.
 */
export function watchTimers(): void {
  const timeout = (callback: (...values: unknown[]) => void, delayMs?: number, ...values: unknown[]) => {
    const place = placeOfCaller();
    if (place === undefined) return setTimeout(callback, delayMs, ...values);
    const timer = setTimeout(() => {
      running.delete(timer);
      callback(...values);
    }, delayMs);
    running.set(timer, place);
    return timer;
  };
  const interval = (callback: (...values: unknown[]) => void, delayMs?: number, ...values: unknown[]) => {
    const place = placeOfCaller();
    const timer = setInterval(callback, delayMs, ...values);
    if (place !== undefined) running.set(timer, place);
    return timer;
  };
  const clear = (timer: NodeJS.Timeout | string | number | undefined) => {
    if (typeof timer === 'object') running.delete(timer);
    clearTimeout(timer);
  };
  const clearOfInterval = (timer: NodeJS.Timeout | string | number | undefined) => {
    if (typeof timer === 'object') running.delete(timer);
    clearInterval(timer);
  };
  // Copies the properties of the original functions, such as their promise versions.
  globalThis.setTimeout = Object.assign(timeout, setTimeout) as typeof globalThis.setTimeout;
  globalThis.setInterval = Object.assign(interval, setInterval) as typeof globalThis.setInterval;
  globalThis.clearTimeout = clear;
  globalThis.clearInterval = clearOfInterval;
}

export interface TimerFilter {
  /** Only timers that keep the process alive. */
  readonly keepAlive?: boolean;
}

/** The number of timers that run now, by the file that started them. */
export function runningTimers({ keepAlive = false }: TimerFilter = {}): ReadonlyMap<Place, number> {
  const counts = new Map<Place, number>();
  for (const [timer, place] of running) {
    if (keepAlive && !timer.hasRef()) continue;
    counts.set(place, (counts.get(place) ?? 0) + 1);
  }
  return counts;
}

/**
 * The file that called the function that calls this one. `undefined` if the file is not part of the service. Of a timer at the pace, it is
 * the file that asked for the timer.
 */
export function placeOfCaller(): Place | undefined {
  const files = callSites(MAX_DEPTH).map((site) => site.getFileName() ?? PACE);
  const file = files.slice(2).find((each) => !each.includes(PACE)) ?? '';
  const [, name] = PLACE.exec(file.slice(file.indexOf(ROOT) + ROOT.length)) ?? [];
  return name === undefined ? undefined : `src/${name}.ts`;
}
