/**
 * Yields a text up to the stop text that is the first to be whole, wherever the text is divided. Holds back the end of the text as long as it can be the beginning of a stop
 * text.
 *
 * @param pieces the text, in pieces.
 */
export function* untilStop(pieces: Iterable<string>, stops: readonly string[]): Generator<string, void> {
  const bufferLength = Math.max(...stops.map(({ length }) => length)) - 1;
  let buffer = '';
  for (const piece of pieces) {
    buffer += piece;
    const end = firstStop(buffer, stops);
    const sure = end === Infinity ? buffer.length - bufferLength : end;
    if (sure > 0) yield buffer.slice(0, sure);
    if (end !== Infinity) return;
    buffer = buffer.slice(Math.max(sure, 0));
  }
  if (buffer !== '') yield buffer;
}

/** Returns where the stop text begins that ends first, or `Infinity`. */
function firstStop(text: string, stops: readonly string[]): number {
  const found = stops.map((stop) => ({ start: text.indexOf(stop), length: stop.length }));
  const ends = found.filter(({ start }) => start !== -1).map(({ start, length }) => ({ start, end: start + length }));
  const [first] = ends.sort((one, other) => one.end - other.end || one.start - other.start);
  return first?.start ?? Infinity;
}
