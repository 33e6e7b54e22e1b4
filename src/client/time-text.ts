/** What a text says of a moment: the date with the time to the minute or to the second, or the time of day alone. */
export type TimeParts = 'minute' | 'second' | 'time' | 'clock';

const DATE = { day: 'numeric', month: 'short', year: 'numeric' } as const;
const CLOCK = { hour: '2-digit', minute: '2-digit' } as const;
const PARTS: Readonly<Record<TimeParts, Intl.DateTimeFormatOptions>> = {
  minute: { ...DATE, ...CLOCK, timeZoneName: 'short' },
  second: { ...DATE, ...CLOCK, second: '2-digit', timeZoneName: 'short' },
  time: { ...CLOCK, second: '2-digit', timeZoneName: 'short' },
  clock: CLOCK,
};
const formats = new Map<string, Intl.DateTimeFormat>();

/**
 * A moment as text, as all pages show it: "27 Nov 2026, 14:03:05 UTC". Only a `clock`, the label of an axis, has no time zone.
 *
 * @param timeZone by default the time zone of the browser.
 */
export function timeText(at: Date, parts: TimeParts, timeZone?: 'UTC'): string {
  const key = `${parts} ${timeZone ?? ''}`;
  let format = formats.get(key);
  if (format === undefined)
    formats.set(key, (format = new Intl.DateTimeFormat('en-GB', { ...PARTS[parts], timeZone })));
  return format.format(at);
}
