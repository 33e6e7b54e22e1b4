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
export function counter<Label extends string = never>(
  registry: Registry,
  { name, help, labels = [], samples }: FamilyOptions<Label>,
): void {
  new Counter({
    name,
    help,
    labelNames: labels,
    registers: [registry],
    collect() {
      this.reset();
      for (const [values, value] of samples()) this.inc(values, value);
    },
  });
}

export function gauge<Label extends string = never>(
  registry: Registry,
  { name, help, labels = [], samples }: FamilyOptions<Label>,
): void {
  new Gauge({
    name,
    help,
    labelNames: labels,
    registers: [registry],
    collect() {
      this.reset();
      for (const [values, value] of samples()) this.set(values, value);
    },
  });
}
