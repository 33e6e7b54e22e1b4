import { element } from './elements.js';

/** The service takes 4 MiB with the whole conversation. */
const MAX_BYTES = 512 * 1024;

/** Puts text files into the message: from a file picker, by pasting them, or by dropping them on the page. */
export class TextFiles {
  /**
   * @param {import('./message-box.js').MessageBox} message
   * @param {(text: string) => void} tell shows a sentence to the user
   */
  constructor(message, tell) {
    this.message = message;
    this.tell = tell;
    const picker = element('files', HTMLInputElement);
    element('add-files', HTMLButtonElement).addEventListener('click', () => picker.click());
    picker.addEventListener('change', () => {
      void this.#add([...(picker.files ?? [])]);
      // The same file can be chosen again.
      picker.value = '';
    });
    message.field.addEventListener('paste', (event) => this.#take(event, event.clipboardData));
    document.addEventListener('dragover', (event) => {
      if (event.dataTransfer?.types.includes('Files')) event.preventDefault();
    });
    document.addEventListener('drop', (event) => this.#take(event, event.dataTransfer));
  }

  /**
   * @param {Event} event
   * @param {DataTransfer | null} data
   */
  #take(event, data) {
    const files = [...(data?.files ?? [])];
    if (files.length === 0) return;
    event.preventDefault();
    void this.#add(files);
  }

  /** @param {readonly File[]} files */
  async #add(files) {
    /** @type {string[]} */
    const refused = [];
    for (const file of files) {
      const text = file.size > MAX_BYTES ? undefined : await textOf(file);
      if (text === undefined) refused.push(file.name);
      else this.#append(file.name, text);
    }
    const added = files.length - refused.length;
    this.message.focus();
    this.tell(
      [
        ...(added === 0 ? [] : [added === 1 ? 'The file is in the message.' : `${added} files are in the message.`]),
        ...refused.map(
          (name) => `${name} is no text file of up to 512 KiB: the API of the playground takes text only.`,
        ),
      ].join(' '),
    );
  }

  /**
   * @param {string} name
   * @param {string} text
   */
  #append(name, text) {
    const { message } = this;
    const block = `${name}:\n${fenced(text)}\n`;
    message.text = message.text.trim() === '' ? block : `${message.text.trimEnd()}\n\n${block}`;
    // What the page does after the user has written something.
    message.field.dispatchEvent(new Event('input', { bubbles: true }));
  }
}

/** The text of a file. `undefined` if it is no text in UTF-8. @param {File} file */
async function textOf(file) {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer());
    return text === '' || text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

/** The text as a block of code in Markdown, which no line of the text ends. @param {string} text */
function fenced(text) {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text.trimEnd()}\n${fence}`;
}
