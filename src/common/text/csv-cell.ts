/** A spreadsheet evaluates a text that begins like this as a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/**
 * Returns a value as a cell of CSV (RFC 4180). A missing value is an empty cell. An apostrophe in front of a text prevents that a
 * spreadsheet evaluates it.
 */
export function csvCell(value: string | number | null): string {
  if (typeof value !== 'string') return String(value ?? '');
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
