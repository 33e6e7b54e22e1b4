import { Column, type ColumnOptions, type ValueTransformer } from 'typeorm';

/**
 * Stores a date as ISO 8601 text in UTC, always with the same length. The text sorts by time and is the same in both
 * engines. It does not depend on a column type of the engine or on the time zone of the server.
 */
const ISO_TEXT: ValueTransformer = {
  to: (value: Date | null | undefined) => value?.toISOString() ?? value,
  from: (value: string | null | undefined) => (typeof value === 'string' ? new Date(value) : value),
};

/** Declares a `Date` property of an entity. In a migration, the type of the column is `text`. */
export function TimestampColumn(options: Pick<ColumnOptions, 'name' | 'nullable'>): PropertyDecorator {
  return Column({ type: 'text', transformer: ISO_TEXT, ...options });
}
