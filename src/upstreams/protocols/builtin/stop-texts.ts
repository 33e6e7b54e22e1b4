/**
 * Yields a text up to the first of the stop texts. Holds back the end of the text as long as it can be the beginning of a stop
 * text.
 *
 * @param pieces the text, in pieces.
 */
export function* untilStop(pieces: Iterable<string>, stops: readonly string[]): Generator<string, void> {
  const bufferLength = Math.max(...stops.map(({ length }) => length)) - 1;
  let buffer = '';
  for (const piece of pieces) {
    buffer += piece;
    const end = Math.min(
      ...stops.map((stop) => buffer.indexOf(stop)).map((index) => (index === -1 ? Infinity : index)),
    );
    const sure = end === Infinity ? buffer.length - bufferLength : end;
    if (sure > 0) yield buffer.slice(0, sure);
    if (end !== Infinity) return;
    buffer = buffer.slice(Math.max(sure, 0));
  }
  if (buffer !== '') yield buffer;
}
