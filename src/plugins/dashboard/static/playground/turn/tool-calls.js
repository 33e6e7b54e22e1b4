import { button, create } from '../elements.js';

/** Shows the calls of tools in an answer, and asks the user for what the tools return. */
export class ToolCalls {
  element = create('div', 'tool-calls');
  /** The arguments of each call on the page. @type {Text[]} */
  #arguments = [];

  /**
   * @param {import('../conversation.js').Turn} turn
   * @param {() => void} send sends the results
   */
  constructor(turn, send) {
    this.turn = turn;
    this.send = send;
  }

  clear() {
    this.element.replaceChildren();
    this.#arguments = [];
  }

  /** Shows the calls as far as they have arrived. */
  show() {
    const { calls } = this.turn;
    // A new connection has sent the answer from its beginning.
    if (calls.some(({ function: { arguments: json } }, index) => json.length < (this.#arguments[index]?.length ?? 0)))
      return;
    for (const [index, { function: called }] of calls.entries()) {
      const shown = (this.#arguments[index] ??= this.#add(called.name));
      shown.appendData(called.arguments.slice(shown.length));
    }
  }

  /** @param {string} name */
  #add(name) {
    const text = document.createTextNode('');
    const code = create('pre', '', create('code', '', text));
    code.tabIndex = 0;
    this.element.append(create('section', 'tool-call', create('h3', '', `Call of ${name}`), code));
    return text;
  }

  /** Adds a field for the result of each call. */
  askForResults() {
    const { calls } = this.turn;
    if (calls.length === 0 || this.element.querySelector('textarea') !== null) return;
    for (const [index, call] of calls.entries()) {
      const field = create('textarea', { rows: 2, value: call.result ?? '' });
      field.addEventListener('input', () => {
        if (field.value === '') delete call.result;
        else call.result = field.value;
      });
      const label = create('label', '', `Result of ${call.function.name}`, field);
      this.element.children[index]?.append(label);
    }
    this.element.append(button('Send results', this.send, 'secondary'));
  }

  /** Shows the results as text, because another turn follows. */
  settle() {
    this.element.querySelector(':scope > button')?.remove();
    for (const [index, { result }] of this.turn.calls.entries()) {
      const section = this.element.children[index];
      section?.querySelector('label')?.remove();
      if (result !== undefined && section?.querySelector('.plain') === null) {
        section.append(create('p', 'plain', `Result: ${result}`));
      }
    }
  }
}
