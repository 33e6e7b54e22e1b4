/**
 * @typedef {object} ServerSentEvent
 * @property {string} event the event name. `message` if the stream has no name for the event.
 * @property {string} data
 */

/** Parses the events of an event stream from its text. The text may arrive in pieces of any size. */
export class EventParser {
  /**
   * The pieces of the current line, which has not ended yet. They are joined only once, at the end of the line, because an
   * answer can be a single line of several megabytes.
   *
   * @type {string[]}
   */
  #unread = [];
  /** Whether the last piece ended with a CR, which ends a line. An LF that follows belongs to the same line ending. */
  #skipsLineFeed = false;
  #event = '';
  /** @type {string[]} */
  #data = [];

  /**
   * @param {string} text
   * @returns {ServerSentEvent[]} the events that are complete now.
   */
  feed(text) {
    if (text === '') return [];
    const start = this.#skipsLineFeed && text.startsWith('\n') ? 1 : 0;
    this.#skipsLineFeed = text.endsWith('\r');
    const [first = '', ...others] = text.slice(start).split(/\r\n|\n|\r/);
    this.#unread.push(first);
    /** @type {ServerSentEvent[]} */
    const events = [];
    for (const next of others) {
      this.#endLine(events);
      this.#unread.push(next);
    }
    return events;
  }

  /** @param {ServerSentEvent[]} events */
  #endLine(events) {
    const line = this.#unread.join('');
    this.#unread = [];
    if (line !== '') {
      this.#take(line);
      return;
    }
    if (this.#data.length > 0) events.push({ event: this.#event || 'message', data: this.#data.join('\n') });
    this.#event = '';
    this.#data = [];
  }

  /** @param {string} line */
  #take(line) {
    const [name, value] = fieldOf(line);
    if (name === 'data') this.#data.push(value);
    else if (name === 'event') this.#event = value;
  }
}

/**
 * @param {string} line
 * @returns {[name: string, value: string]} for a comment line, the name is empty.
 */
function fieldOf(line) {
  const colon = line.indexOf(':');
  if (colon === -1) return [line, ''];
  const start = line[colon + 1] === ' ' ? colon + 2 : colon + 1;
  return [line.slice(0, colon), line.slice(start)];
}
