/** Line ends of Unicode. JSON leaves them as they are, but simple readers divide the stream at them. */
const LINE_ENDS = /[\u0085\u2028\u2029]/;
const EACH_LINE_END = new RegExp(LINE_ENDS, 'g');

/** Whether the text has a line end that is only in Unicode. */
export function hasLineEnds(text: string): boolean {
  return LINE_ENDS.test(text);
}

/** Escapes the line ends of Unicode in a JSON text. */
export function escapedLineEnds(json: string): string {
  return json.replace(EACH_LINE_END, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
