import { Counter, Gauge, type LabelValues, type Registry } from 'prom-client';

export type Sample<Label extends string> = readonly [labels: LabelValues<Label>, value: number];

export interface FamilyOptions<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly Label[];
  /** Called at each scrape, so that the source of the numbers does not depend on metrics. */
  readonly samples: () => Iterable<Sample<Label>>;
}

/** Registers a counter whose values come from another object. */
export function counter<Label extends string = never>(registry: Registry, options: FamilyOptions<Label>): void {
  new Counter(configurationOf(registry, options));
}

/** Registers a gauge whose values come from another object. */
export function gauge<Label extends string = never>(registry: Registry, options: FamilyOptions<Label>): void {
  new Gauge(configurationOf(registry, options));
}

function configurationOf<Label extends string>(
  registry: Registry,
  { name, help, labels = [], samples }: FamilyOptions<Label>,
) {
  return {
    name,
    help,
    labelNames: labels,
    registers: [registry],
    collect(this: Counter<Label> | Gauge<Label>) {
      // After the reset, all values are 0, so that `inc` sets the value of a gauge too.
      this.reset();
      for (const [values, value] of samples()) this.inc(values, value);
    },
  };
}
