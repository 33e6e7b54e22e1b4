import type { PageOfMany } from './page-of-many.js';

/** Links to the previous and the next page of a list. Shows nothing if the list has one page only. */
export function Pagination({ pathOf, shown }: { pathOf(page: number): string; readonly shown: PageOfMany }) {
  const { number, of } = shown;
  if (of <= 1) return null;
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
