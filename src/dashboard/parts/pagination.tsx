import { pathWith } from './query.js';

/** The page number in a list, starting at 1, the number of pages, and the number of items before the page. */
export interface Paging {
  readonly number: number;
  readonly of: number;
  readonly offset: number;
}

/** The number of items on a page of a list. */
export const PAGE_SIZE = 50;

/** @param wanted the page number as the query has it. A number above the last page gives the last page. */
export function pagingOf(wanted: unknown, itemCount: number): Paging {
  const of = Math.max(1, Math.ceil(itemCount / PAGE_SIZE));
  const found = typeof wanted === 'string' && /^[1-9]\d{0,6}$/.test(wanted) ? Number(wanted) : 1;
  const number = Math.min(found, of);
  return { number, of, offset: (number - 1) * PAGE_SIZE };
}

interface PaginationProps {
  readonly paging: Paging;
  /** The path of the list and its filter. */
  readonly path: string;
  readonly filter: Readonly<Record<string, string | number | undefined>>;
  readonly fragment?: string;
}

/** Links to the previous and the next page of a list. Shows nothing if the list has one page only. */
export function Pagination({ paging: { number, of }, path, filter, fragment = '' }: PaginationProps) {
  if (of <= 1) return null;
  const pathOf = (page: number) => pathWith(path, { ...filter, page }) + fragment;
  return (
    <nav class="pagination" aria-label="Pages">
      {number > 1 ? (
        <a rel="prev" href={pathOf(number - 1)}>
          ← Newer
        </a>
      ) : null}
      <span class="fine">
        Page {number} of {of}
      </span>
      {number < of ? (
        <a rel="next" href={pathOf(number + 1)}>
          Older →
        </a>
      ) : null}
    </nav>
  );
}
