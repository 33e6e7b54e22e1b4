import fc from 'fast-check';
import { SeededRandom } from '../../support/seeded-random.js';
import type { LinkState } from './link.js';
import type { VirtualTime } from './virtual-time.js';
import type { World } from './world.js';

/**
 * CI repeats the same schedules in each run, so that a change that breaks one is told from a schedule that was never tried.
 * `SCHEDULES=10000` runs so many of each simulation, and `SCHEDULE_SEED=12` repeats those of a seed.
 */
const { SCHEDULES, CI } = process.env;
const RUNS = Number(SCHEDULES ?? (CI === 'true' ? 1_000 : 200));
const SEED = process.env['SCHEDULE_SEED'] ?? (CI === 'true' ? '1' : undefined);

/** The time limit of the test of a simulation. */
export const LIMIT_MS = 3_600_000;

/** Something that happens in a simulation, on a world of real objects. The model is in the world: what clients have seen. */
export class Step<W extends World> implements fc.AsyncCommand<object, W> {
  constructor(
    private readonly name: string,
    private readonly act: (world: W) => Promise<void>,
  ) {}

  check(): boolean {
    return true;
  }

  async run(_: object, world: W): Promise<void> {
    await this.act(world);
  }

  toString(): string {
    return this.name;
  }
}

/** Returns a function that makes the steps of a world: of a name, the inputs, and what the world does with an input. */
export const stepsOn =
  <W extends World>() =>
  <Input>(name: string, inputs: fc.Arbitrary<Input>, act: (world: W, input: Input) => unknown) =>
    inputs.map(
      (input) =>
        new Step<W>(`${name}(${JSON.stringify(input)})`, async (world) => {
          await act(world, input);
        }),
    );

/** A link is up again sooner or later. */
const linkStates = fc.constantFrom<LinkState>('up', 'up', 'cut', 'stalled', 'deaf');

export const replicaOf = (replicas: number): fc.Arbitrary<number> => fc.nat({ max: replicas - 1 });

/** The steps of every simulation. One replica is never killed, to see what remains. */
export function usualSteps<W extends World>(replicas: number, passesMs: readonly number[], stopsMs: readonly number[]) {
  const step = stepsOn<W>();
  const any = replicaOf(replicas);
  const notFirst = fc.integer({ min: 1, max: replicas - 1 });
  return {
    pass: step('pass', fc.constantFrom(...passesMs), (world, ms) => world.time.pass(ms)),
    link: step('link', fc.tuple(any, linkStates), (world, [number, state]) => world.link(number, state)),
    stop: step('stop', fc.tuple(any, fc.constantFrom(...stopsMs)), (world, [number, ms]) => {
      world.stop(number, ms);
    }),
    kill: step('kill', notFirst, (world, number) => {
      world.kill(number);
    }),
    shutDown: step('shutDown', notFirst, (world, number) => world.shutDown(number)),
  };
}

interface Simulation<W extends World> {
  readonly time: VirtualTime;
  /** A step that is named twice comes twice as often. */
  readonly steps: readonly fc.Arbitrary<Step<W>>[];
  readonly worldOf: (random: SeededRandom) => W | Promise<W>;
  readonly maxSteps?: number;
  /** The share of the schedules that this simulation runs. */
  readonly share?: number;
}

/** Runs schedules of steps, each on a world of its own. Then all links work again, and the world is checked. */
export async function simulate<W extends World>(simulation: Simulation<W>): Promise<void> {
  const { time, steps, worldOf, maxSteps: maxCommands = 30, share = 1 } = simulation;
  const schedules = fc.commands<object, W, boolean>([...steps], { maxCommands, size: 'max' });
  await fc.assert(
    fc.asyncProperty(schedules, fc.noShrink(fc.integer()), async (schedule, seed) => {
      time.clear();
      const world = await worldOf(new SeededRandom(seed));
      await fc.asyncModelRun(() => ({ model: {}, real: world }), schedule);
      for (const number of world.replicas.keys()) await world.link(number, 'up');
      await world.check();
    }),
    { numRuns: Math.ceil(RUNS * share), ...(SEED !== undefined && { seed: Number(SEED) }) },
  );
}
