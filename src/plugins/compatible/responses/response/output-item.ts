/** An event of Open Responses, without its sequence number. */
export interface EventBody {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** `incomplete`: the answer ended inside the item. */
export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

/** One item of the output, while it is written. Each method returns the events to send. */
export interface OutputItem {
  /** The item is announced, without any content. */
  begin(): EventBody[];
  close(status: ItemStatus): EventBody[];
  /** Returns the item with its content so far. */
  snapshot(status: ItemStatus): object;
}
