/** @param {readonly number[]} values */
export const median = (values) => quantile(values, 0.5);

/**
 * The quantile of the values, with linear interpolation between the two nearest ranks.
 *
 * @param {readonly number[]} values
 * @param {number} fraction
 */
export function quantile(values, fraction) {
  const sorted = Float64Array.from(values).sort();
  const rank = (sorted.length - 1) * fraction;
  const below = Math.floor(rank);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (rank - below);
}
