/** An event of Open Responses, without its sequence number. */
export interface EventBody {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** `incomplete`: the answer ended inside the item. */
export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

/** One item of the output, while it is written. */
export interface OutputItem {
  /** The position in the output. */
  readonly index: number;
  /** Returns the events after the announcement of the item. */
  begin?(): EventBody[];
  /** Returns the events before the end of the item. */
  close(): EventBody[];
  /** Returns the item with its content so far. An item in progress is announced without any content. */
  snapshot(status: ItemStatus): object;
}
