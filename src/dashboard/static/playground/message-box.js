/** The text field for the message. Enter sends the message, Shift + Enter begins a new line. */
export class MessageBox {
  /**
   * @param {HTMLTextAreaElement} field
   * @param {HTMLFormElement} form
   */
  constructor(field, form) {
    this.field = field;
    field.addEventListener('keydown', (event) => {
      if (!isSend(event)) return;
      event.preventDefault();
      form.requestSubmit();
    });
  }

  get text() {
    return this.field.value;
  }

  /** Returns the text and empties the box. */
  take() {
    const { value } = this.field;
    this.field.value = '';
    this.focus();
    return value;
  }

  /**
   * Puts a text back into the box to be edited. Text that the user has written in the meantime stays below it.
   *
   * @param {string} text
   */
  giveBack(text) {
    const { value } = this.field;
    this.field.value = value.trim() === '' ? text : `${text}\n\n${value}`;
    this.focus();
  }

  focus() {
    this.field.focus();
  }
}

/**
 * Whether the key event sends the message. While an input method composes text, Enter chooses a word and does not send. Some
 * browsers report composing only by the key code 229.
 *
 * @param {Pick<KeyboardEvent, 'key' | 'shiftKey' | 'isComposing' | 'keyCode'>} event
 */
export function isSend({ key, shiftKey, isComposing, keyCode }) {
  return key === 'Enter' && !shiftKey && !isComposing && keyCode !== 229;
}
