/** A spreadsheet evaluates a text that begins like this as a formula. The last four characters are the wide forms of the first four. */
const FORMULA = /^[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;
/** In many countries, spreadsheets also begin a new cell after a semicolon, and some do after a tab or a line break. */
const FORMULA_AFTER_SEPARATOR = /([;\t\r\n][ "]*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])/g;

/**
 * Returns a value as a cell of CSV (RFC 4180). A missing value is an empty cell. An apostrophe in front of a text prevents that a
 * spreadsheet evaluates it, also where the text would begin a new cell.
 */
export function csvCell(value: string | number | null): string {
  if (typeof value !== 'string') return String(value ?? '');
  const harmless = value.replaceAll(FORMULA_AFTER_SEPARATOR, "$1'");
  const text = FORMULA.test(harmless) ? `'${harmless}` : harmless;
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
