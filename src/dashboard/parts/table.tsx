import type { ComponentChildren } from 'preact';

export interface Column<T> {
  readonly title: string;
  /** The cells of the first column are the heads of the rows. */
  readonly cell: (row: T) => ComponentChildren;
  readonly isNumber?: boolean;
  /** Whether the column holds the buttons of the rows. Its title is then for screen readers only. */
  readonly isActions?: boolean;
}

interface TableProps<T> {
  /** The name of the table. */
  readonly caption: string;
  /** Whether the page shows the name. */
  readonly showsCaption?: boolean;
  /** An entry that is no column is left out. */
  readonly columns: readonly (Column<T> | false)[];
  readonly rows: readonly T[];
  /** A last row with the sums. */
  readonly total?: T;
  /** Whether each row is a block on a phone, for things with actions. Other tables scroll sideways. */
  readonly isCards?: boolean;
  readonly class?: string;
  /** The id of the head of a row, for the buttons in the row. */
  readonly headId?: (row: T) => string;
  readonly isEnded?: (row: T) => boolean;
}

/** A table. The roles are explicit because the stylesheet changes the layout of a table on phones. */
export function Table<T>({
  caption,
  showsCaption = false,
  columns,
  rows,
  total,
  isCards = false,
  ...props
}: TableProps<T>) {
  const shown = columns.filter((column) => column !== false);
  const rowOf = (row: T, key: number | string) => (
    <tr key={key} role="row" class={props.isEnded?.(row) === true ? 'ended' : undefined}>
      {shown.map(({ title, cell, isNumber, isActions }, index) =>
        index === 0 ? (
          <th key={title} scope="row" role="rowheader" id={props.headId?.(row)}>
            {cell(row)}
          </th>
        ) : (
          <td
            key={title}
            role="cell"
            class={isNumber === true ? 'number' : undefined}
            data-label={isActions === true ? undefined : title}
          >
            {isActions === true ? <div class="row-actions">{cell(row)}</div> : cell(row)}
          </td>
        ),
      )}
    </tr>
  );
  const table = (
    <table role="table" class={isCards ? 'cards' : props.class} aria-label={showsCaption ? undefined : caption}>
      {showsCaption ? <caption>{caption}</caption> : null}
      <thead role="rowgroup">
        <tr role="row">
          {shown.map(({ title, isNumber, isActions }) => (
            <th key={title} scope="col" role="columnheader" class={isNumber === true ? 'number' : undefined}>
              {isActions === true ? <span class="visually-hidden">{title}</span> : title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">{rows.map(rowOf)}</tbody>
      {total === undefined ? null : <tfoot role="rowgroup">{rowOf(total, 'total')}</tfoot>}
    </table>
  );
  if (isCards) return table;
  return (
    <div class="table" role="region" aria-label={caption} tabIndex={0}>
      {table}
    </div>
  );
}
