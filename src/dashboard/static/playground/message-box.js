/** Where the message is written: Enter sends it, Shift and Enter begins a line. */
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

  /** The text, which is gone from the box then. */
  take() {
    const { value } = this.field;
    this.field.value = '';
    this.focus();
    return value;
  }

  /**
   * Gives a text back to be edited. What has been written meanwhile stays.
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
 * Not while an input method composes: Enter chooses a word there. Some browsers say so by the key code alone.
 *
 * @param {Pick<KeyboardEvent, 'key' | 'shiftKey' | 'isComposing' | 'keyCode'>} event
 */
export function isSend({ key, shiftKey, isComposing, keyCode }) {
  return key === 'Enter' && !shiftKey && !isComposing && keyCode !== 229;
}
