import type { ComponentChildren } from 'preact';
import { PageForm } from '../forms/page-form.js';

interface Column<T> {
  readonly title: string;
  /** The cells of the first column are the heads of the rows. */
  readonly cell: (row: T) => ComponentChildren;
  readonly isNumber?: boolean;
}

/** A button in a row. */
export interface RowAction {
  readonly label: string;
  readonly path: string;
  /** The account that is signed in, if the button sends a form. Otherwise the button opens the page at the path. */
  readonly accountId?: string;
}

interface TableProps<T> {
  /** The name of the table. */
  readonly caption: string;
  /** Whether the page shows the name. */
  readonly showsCaption?: boolean;
  /** An entry that is no column is left out. */
  readonly columns: readonly (Column<T> | false | undefined)[];
  readonly rows: readonly T[];
  /** What the page shows instead of a table without rows. */
  readonly empty?: string | undefined;
  /** A last row with the sums. */
  readonly total?: T;
  /** Whether each row is a block on a phone, for things with actions. Other tables scroll sideways. */
  readonly isCards?: boolean;
  readonly class?: string;
  /** The buttons of a row, which are in the last column, and the id of the head of the row, which describes them. */
  readonly actions?: { readonly headId: (row: T) => string; readonly of: (row: T) => readonly RowAction[] };
  readonly isEnded?: (row: T) => boolean;
}

/** A table. The roles are explicit because the stylesheet changes the layout of a table on phones. */
export function Table<T>(props: TableProps<T>) {
  const { caption, showsCaption = false, rows, empty, total, isCards = false, actions } = props;
  if (rows.length === 0 && empty !== undefined) return <p class="empty">{empty}</p>;
  const columns = props.columns.filter((column) => typeof column === 'object');
  const rowOf = (row: T, key: number | string) => (
    <tr key={key} role="row" class={props.isEnded?.(row) === true ? 'ended' : undefined}>
      {columns.map(({ title, cell, isNumber }, index) =>
        index === 0 ? (
          <th key={title} scope="row" role="rowheader" id={actions?.headId(row)}>
            {cell(row)}
          </th>
        ) : (
          <td key={title} role="cell" class={isNumber === true ? 'number' : undefined} data-label={title}>
            {cell(row)}
          </td>
        ),
      )}
      {actions === undefined ? null : (
        <td role="cell">
          <RowActions actions={actions.of(row)} describedBy={actions.headId(row)} />
        </td>
      )}
    </tr>
  );
  const table = (
    <table role="table" class={isCards ? 'cards' : props.class} aria-label={showsCaption ? undefined : caption}>
      {showsCaption ? <caption>{caption}</caption> : null}
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ title, isNumber }) => (
            <th key={title} scope="col" role="columnheader" class={isNumber === true ? 'number' : undefined}>
              {title}
            </th>
          ))}
          {actions === undefined ? null : (
            <th scope="col" role="columnheader">
              <span class="visually-hidden">Actions</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody role="rowgroup">{rows.map(rowOf)}</tbody>
      {total === undefined ? null : <tfoot role="rowgroup">{rowOf(total, 'total')}</tfoot>}
    </table>
  );
  if (isCards) return table;
  return (
    <div class="table" role="group" aria-label={caption} tabIndex={0}>
      {table}
    </div>
  );
}

interface RowActionsProps {
  readonly actions: readonly RowAction[];
  readonly describedBy: string;
}

function RowActions({ actions, describedBy }: RowActionsProps) {
  return (
    <div class="row-actions">
      {actions.map(({ label, path, accountId }) => (
        <PageForm
          key={path}
          {...(accountId === undefined ? { method: 'get' } : { accountId })}
          action={path}
          button={label}
          tone="quiet"
          describedBy={describedBy}
        />
      ))}
    </div>
  );
}
