/**
 * @typedef {object} ServerSentEvent
 * @property {string} event `message` where the stream names none.
 * @property {string} data
 */

/** Finds events in the text of an event stream, however it is cut into pieces. */
export class EventParser {
  /**
   * The line that has not ended yet, in the pieces that it came in. Joined once, when its end is there: an answer can
   * come as one line of megabytes.
   *
   * @type {string[]}
   */
  #unread = [];
  /** The last piece ended with CR, which ended a line. An LF that follows belongs to it. */
  #skipsLineFeed = false;
  #event = '';
  /** @type {string[]} */
  #data = [];

  /**
   * @param {string} text
   * @returns {ServerSentEvent[]} those that are whole now.
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
 * @returns {[name: string, value: string]} a comment has an empty name.
 */
function fieldOf(line) {
  const colon = line.indexOf(':');
  if (colon === -1) return [line, ''];
  const start = line[colon + 1] === ' ' ? colon + 2 : colon + 1;
  return [line.slice(0, colon), line.slice(start)];
}
