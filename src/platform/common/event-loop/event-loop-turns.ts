/** How long one step of a longer task may block the event loop. */
const STEP_MS = 2;
/** A turn that has lasted less than this time may begin one more piece of work. */
const SHORT_TURN_MS = 1;
/** The maximum number of successive turns that accept a connection and do no other work. */
const MAX_ACCEPTING_TURNS = 8;

type Work = () => void;

/** The waiting work, oldest first. Probes have their own queue: see {@link takeTurn}. */
const waiting: Record<'probe' | 'work', Work[]> = { probe: [], work: [] };
/** Whether this turn of the event loop already has its work. If so, {@link nextTurn} runs in the next turn. */
let isTaken = false;
let takenAt = 0;
let wasProbe = false;
let hasAccepted = false;
let acceptingTurns = 0;

/**
 * Runs `work` at once while the current turn of the event loop is short, and otherwise in a later turn.
 *
 * This keeps turns short under load, which matters because libuv accepts one connection per turn, and the chunks of all
 * streams are sent in each turn. There is one queue for the process, as there is one event loop.
 *
 * @param isProbe a probe gets every second turn while other work waits, however much work that is.
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
 * Must be called when a connection was accepted, because more connections may be waiting.
 *
 * libuv accepts one connection per turn. So the other work waits for a few turns, which are then short. Otherwise hundreds
 * of new connections would keep a probe waiting for seconds.
 */
export function recordAccepted(): void {
  hasAccepted = true;
  if (!isTaken) reserve();
}

/** Resolves in a later turn of the event loop that has no other queued work. */
export function ownTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.work.push(resolve);
    if (!isTaken) reserve();
  });
}

/**
 * Schedules the next turn. At most one callback is scheduled, because Node runs all due callbacks of `setImmediate` in one
 * turn.
 */
function reserve(): void {
  isTaken = true;
  takenAt = performance.now();
  setImmediate(nextTurn);
}

function nextTurn(): void {
  acceptingTurns = hasAccepted ? acceptingTurns + 1 : 0;
  hasAccepted = false;
  if (acceptingTurns % (MAX_ACCEPTING_TURNS + 1) > 0) {
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
 * Divides long work into steps, so that the event loop can serve other requests between the steps.
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

  /** Whether the current step has used its time. */
  get isOver(): boolean {
    return performance.now() >= this.endsAt;
  }

  async next(): Promise<void> {
    await ownTurn();
    this.endsAt = performance.now() + STEP_MS;
  }
}
