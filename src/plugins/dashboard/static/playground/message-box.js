/** On a touch screen, Enter starts a new line, because its keyboard has no Shift + Enter. */
const TOUCH = matchMedia('(hover: none) and (pointer: coarse)');

/** The text field for the message. Enter sends the message, Shift + Enter begins a new line. */
export class MessageBox {
  /**
   * @param {HTMLTextAreaElement} field
   * @param {HTMLFormElement} form
   */
  constructor(field, form) {
    this.field = field;
    field.addEventListener('keydown', (event) => {
      if (TOUCH.matches || !isSend(event)) return;
      event.preventDefault();
      form.requestSubmit();
    });
    field.addEventListener('input', () => this.#fit());
  }

  get text() {
    return this.field.value;
  }

  set text(text) {
    this.field.value = text;
    this.#fit();
  }

  /** Returns the text and empties the box. */
  take() {
    const { text } = this;
    this.text = '';
    this.focus();
    return text;
  }

  /**
   * Puts a text back into the box to be edited. Text that the user has written in the meantime stays below it.
   *
   * @param {string} text
   * @returns the text of the box before and after the change.
   */
  restore(text) {
    const before = this.text;
    this.text = before.trim() === '' ? text : `${text}\n\n${before}`;
    this.focus();
    return { before, after: this.text };
  }

  /**
   * Takes back a change of the text, unless the user has written something since.
   *
   * @param {{ readonly before: string, readonly after: string }} change
   */
  undo({ before, after }) {
    if (this.text === after) this.text = before;
  }

  focus() {
    // On a touch screen, the focus would open the keyboard over the answer.
    if (!TOUCH.matches) this.field.focus();
  }

  /** Makes the field as high as its text, within the limits of the stylesheet. */
  #fit() {
    this.field.style.height = 'auto';
    this.field.style.height = `${this.field.scrollHeight + this.field.offsetHeight - this.field.clientHeight}px`;
  }
}

/**
 * Whether the key event sends the message. While an input method composes text, Enter chooses a word and does not send. Some
 * browsers report composing only by the key code 229.
 *
 * @param {Pick<KeyboardEvent, 'key' | 'shiftKey' | 'isComposing' | 'keyCode'>} event
 */
function isSend({ key, shiftKey, isComposing, keyCode }) {
  return key === 'Enter' && !shiftKey && !isComposing && keyCode !== 229;
}
