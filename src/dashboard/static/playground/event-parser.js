/**
 * @typedef {object} ServerSentEvent
 * @property {string} event `message` where the stream names none.
 * @property {string} data
 */

/** Finds events in the text of an event stream, however it is cut into pieces. */
export class EventParser {
  #unread = '';
  #event = '';
  /** @type {string[]} */
  #data = [];

  /**
   * @param {string} text
   * @returns {ServerSentEvent[]} those that are whole now.
   */
  feed(text) {
    // A line may end with CR, LF or both: after a CR at the very end, the LF may still come.
    const lines = (this.#unread + text).split(/\r\n|\n|\r(?!$)/);
    this.#unread = lines.pop() ?? '';
    /** @type {ServerSentEvent[]} */
    const events = [];
    for (const line of lines) {
      if (line !== '') this.#take(line);
      else events.push(...this.#dispatch());
    }
    return events;
  }

  /** @param {string} line */
  #take(line) {
    const [name, value] = fieldOf(line);
    if (name === 'data') this.#data.push(value);
    else if (name === 'event') this.#event = value;
  }

  #dispatch() {
    const event = { event: this.#event || 'message', data: this.#data.join('\n') };
    const isEmpty = this.#data.length === 0;
    this.#event = '';
    this.#data = [];
    return isEmpty ? [] : [event];
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
