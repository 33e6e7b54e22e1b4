const FORMAT = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
});

/** Shows a date and time in UTC. */
export function Moment({ at }: { readonly at: Date }) {
  return <time dateTime={at.toISOString()}>{FORMAT.format(at)}</time>;
}

/** Shows a date and time in UTC, or the text `none` if there is no date. */
export function OptionalMoment({ at, none }: { readonly at: Date | null; readonly none: string }) {
  return at === null ? <span class="none">{none}</span> : <Moment at={at} />;
}
