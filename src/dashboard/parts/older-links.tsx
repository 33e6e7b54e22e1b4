interface OlderLinksProps {
  /** `undefined` on the first page. */
  readonly latest: string | undefined;
  /** `undefined` on the last page. */
  readonly older: string | undefined;
}

/** Links to the first page and to the next page of a list by time. */
export function OlderLinks({ latest, older }: OlderLinksProps) {
  if (latest === undefined && older === undefined) return null;
  return (
    <nav class="pagination" aria-label="Pages">
      {latest === undefined ? null : <a href={latest}>← Latest</a>}
      {older === undefined ? null : (
        <a rel="next" href={older}>
          Older →
        </a>
      )}
    </nav>
  );
}
