interface ServerSentEvent {
  /** The event name. Empty if the stream has no name for the event. */
  readonly event: string;
  readonly data: string;
  /** The last id that the stream has sent so far. Empty if there was none. */
  readonly id: string;
}

/** Returns a function that takes the text of an event stream, in pieces of any size, and returns the events that are complete. */
export function eventParser(): (text: string) => ServerSentEvent[] {
  let line = '';
  let endsWithCr = false;
  let event = '';
  let id = '';
  let data: string[] = [];
  return (text) => {
    if (text === '') return [];
    const [first = '', ...others] = (endsWithCr && text.startsWith('\n') ? text.slice(1) : text).split(/\r\n|\n|\r/);
    endsWithCr = text.endsWith('\r');
    const events: ServerSentEvent[] = [];
    line += first;
    for (const next of others) {
      // The name of a comment is empty.
      const [name = ''] = line.split(':', 1);
      const value = line.slice(name.length + 1).replace(/^ /, '');
      if (name === 'data') data.push(value);
      else if (name === 'event') event = value;
      else if (name === 'id' && !value.includes('\0')) id = value;
      else if (line === '') {
        if (data.length > 0) events.push({ event, data: data.join('\n'), id });
        event = '';
        data = [];
      }
      line = next;
    }
    return events;
  };
}
