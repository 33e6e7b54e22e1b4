/** The page number in a list, starting at 1, and the number of pages. */
export interface PageOfMany {
  readonly number: number;
  readonly of: number;
}

/** @param wanted the page number as the query has it. A number above the last page gives the last page. */
export function pageOfMany(wanted: unknown, itemCount: number, itemsPerPage: number): PageOfMany {
  const of = Math.max(1, Math.ceil(itemCount / itemsPerPage));
  const number = typeof wanted === 'string' && /^[1-9]\d{0,6}$/.test(wanted) ? Number(wanted) : 1;
  return { number: Math.min(number, of), of };
}
