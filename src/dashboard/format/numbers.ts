const COUNTS = new Intl.NumberFormat('en-US');

/** The sign for a figure that is partly an estimate. */
export const ESTIMATED = '≈';
/** The sign for a figure that leaves out unknown values. */
export const AT_LEAST = '≥';

export function count(number: number): string {
  return COUNTS.format(number);
}

export function requestCount(number: number): string {
  return number === 1 ? '1 request' : `${count(number)} requests`;
}
