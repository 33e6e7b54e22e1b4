import { Column, type ColumnOptions, type ValueTransformer } from 'typeorm';

/**
 * Keeps a moment as ISO 8601 text in UTC, always of the same length: it sorts by time, reads the same in both engines and
 * needs neither a column type per engine nor a server's time zone.
 */
const ISO_TEXT: ValueTransformer = {
  to: (value: Date | null | undefined) => value?.toISOString() ?? value,
  from: (value: string | null | undefined) => (typeof value === 'string' ? new Date(value) : value),
};

/** A `Date` property of an entity. In a migration the column's type is `text`. */
export function TimestampColumn(options: Pick<ColumnOptions, 'name' | 'nullable'>): PropertyDecorator {
  return Column({ type: 'text', transformer: ISO_TEXT, ...options });
}
