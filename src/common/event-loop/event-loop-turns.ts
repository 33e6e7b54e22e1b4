/** How long one step of long work may hold the event loop. */
const STEP_MS = 2;
/** While a turn has lasted no longer, it may begin one more piece of work. */
const SHORT_TURN_MS = 1;
/** Turns in a row that may accept a connection and do no other work. */
const MOST_ACCEPTING_TURNS = 8;

type Work = () => void;

/** What is due next, oldest first. Probes are apart: see {@link takeTurn}. */
const waiting: Record<'probe' | 'work', Work[]> = { probe: [], work: [] };
/** This turn of the event loop has its work; the next one asks {@link nextTurn}. */
let isTaken = false;
let takenAt = 0;
let wasProbe = false;
let hasAccepted = false;
let acceptingTurns = 0;

/**
 * Runs `work` at once while this turn of the event loop is short, and else in a later turn. With much to do, turns stay
 * short by this: libuv accepts one connection in each, and the chunks of all streams pass in each. The queue is one for the
 * process, as the event loop is.
 *
 * @param isProbe takes every second turn while other work waits, however much that is.
 */
export function takeTurn(work: Work, isProbe = false): void {
  if (isTaken && !isShort()) {
    waiting[isProbe ? 'probe' : 'work'].push(work);
    return;
  }
  if (!isTaken) reserve();
  work();
}

function isShort(): boolean {
  const isFirst = waiting.probe.length === 0 && waiting.work.length === 0 && !hasAccepted;
  return isFirst && performance.now() - takenAt < SHORT_TURN_MS;
}

/**
 * To be called when a connection was accepted: there may be more. libuv accepts one in each turn, so the other work waits
 * for a few turns, which are short then. Connections that come in hundreds would keep a probe waiting for seconds.
 */
export function noteAccepted(): void {
  hasAccepted = true;
  if (!isTaken) reserve();
}

/** Resolves in a later turn of the event loop that has no other piece of work. */
export function ownTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.work.push(resolve);
    if (!isTaken) reserve();
  });
}

/** Node runs all callbacks of `setImmediate` that are due in one turn; hence there is never more than this one. */
function reserve(): void {
  isTaken = true;
  takenAt = performance.now();
  setImmediate(nextTurn);
}

function nextTurn(): void {
  acceptingTurns = hasAccepted ? acceptingTurns + 1 : 0;
  hasAccepted = false;
  if (acceptingTurns % (MOST_ACCEPTING_TURNS + 1) > 0) {
    reserve();
    return;
  }
  const [first, second] = wasProbe ? [waiting.work, waiting.probe] : [waiting.probe, waiting.work];
  const queue = first.length > 0 ? first : second;
  const work = queue.shift();
  isTaken = work !== undefined;
  if (work === undefined) return;
  wasProbe = queue === waiting.probe;
  reserve();
  work();
}

/**
 * Divides long work into steps, so that the event loop serves other requests in between.
 *
 * @example
 * ```ts
 * const steps = new Steps();
 * for (const piece of pieces) {
 *   work(piece);
 *   if (steps.isOver) await steps.next();
 * }
 * ```
 */
export class Steps {
  private endsAt = performance.now() + STEP_MS;

  /** The current step has taken long enough. */
  get isOver(): boolean {
    return performance.now() >= this.endsAt;
  }

  async next(): Promise<void> {
    await ownTurn();
    this.endsAt = performance.now() + STEP_MS;
  }
}
