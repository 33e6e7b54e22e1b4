/** Returns the result of a command as one line of JSON. A text, and the pieces of a text, stay unchanged. */
export async function* piecesOf(result: unknown): AsyncIterable<string> {
  if (typeof result === 'string') yield result;
  else if (isPieces(result)) yield* result;
  else yield JSON.stringify(result);
  yield '\n';
}

/** Returns one array in pieces, because the entries of a long list may not fit into memory. */
export async function* jsonArray<T>(
  pages: AsyncIterable<readonly T[]>,
  shown: (entry: T) => unknown,
): AsyncIterable<string> {
  let before = '[';
  for await (const page of pages) {
    for (const entry of page) {
      yield before + JSON.stringify(shown(entry));
      before = ',';
    }
  }
  yield before === '[' ? '[]' : ']';
}

/** Returns the result for a person at a terminal: objects as the rows of a table, and a text unchanged. */
export async function* tableOf(result: unknown): AsyncIterable<string> {
  let text = '';
  for await (const piece of piecesOf(result)) text += piece;
  const rows = rowsIn(text);
  yield rows === undefined ? text : linesOf(rows);
}

type Row = Readonly<Record<string, unknown>>;

function rowsIn(text: string): readonly Row[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const rows: unknown[] = Array.isArray(value) ? value : [value];
    return rows.every((row): row is Row => typeof row === 'object' && row !== null) ? rows : undefined;
  } catch {
    return undefined;
  }
}

function linesOf(rows: readonly Row[]): string {
  const [first] = rows;
  if (first === undefined) return 'none\n';
  const names = Object.keys(first);
  const cells = [names, ...rows.map((row) => names.map((name) => cellOf(row[name])))];
  const widths = names.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('');
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return '-';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function isPieces(result: unknown): result is AsyncIterable<string> {
  return typeof result === 'object' && result !== null && Symbol.asyncIterator in result;
}
