/**
 * Yields a text up to the first of the stop texts. Holds back the end of the text as long as it can be the beginning of a stop
 * text.
 *
 * @param pieces the text, in pieces.
 */
export function* untilStop(pieces: Iterable<string>, stops: readonly string[]): Generator<string, void> {
  const heldLength = Math.max(...stops.map(({ length }) => length)) - 1;
  let held = '';
  for (const piece of pieces) {
    held += piece;
    const end = Math.min(...stops.map((stop) => held.indexOf(stop)).map((index) => (index === -1 ? Infinity : index)));
    const sure = end === Infinity ? held.length - heldLength : end;
    if (sure > 0) yield held.slice(0, sure);
    if (end !== Infinity) return;
    held = held.slice(Math.max(sure, 0));
  }
  if (held !== '') yield held;
}
