/** The number of steps of an axis: with the ends, the axis has 5 to 7 ticks. */
const MIN_STEPS = 4;
const MAX_STEPS = 6;

/** The values of an axis from 0 to a round number that is not below the highest value. They are equally far apart. */
export function valueTicks(highest: number, isWhole: boolean): readonly number[] {
  const power = 10 ** Math.floor(Math.log10(Math.max(highest, isWhole ? 1 : 1e-6)));
  const steps = [0.1, 0.2, 0.25, 0.5, 1, 2, 2.5, 5]
    .map((part) => part * power)
    .filter((step) => !isWhole || Number.isInteger(step));
  const step = steps.find((size) => Math.ceil(rounded(highest / size)) <= MAX_STEPS) ?? power;
  const count = Math.max(MIN_STEPS, Math.ceil(rounded(highest / step)));
  return Array.from({ length: count + 1 }, (_, index) => rounded(index * step));
}

/** The places of 5 to 7 days among all days, with the first and the last. Fewer if there are fewer days. */
export function dayTicks(days: number): readonly number[] {
  const steps = Math.min(MAX_STEPS, Math.max(1, days - 1));
  return Array.from({ length: steps + 1 }, (_, index) => Math.round((index * (days - 1)) / steps));
}

/** Without the error of binary fractions. */
function rounded(value: number): number {
  return Number(value.toPrecision(12));
}
