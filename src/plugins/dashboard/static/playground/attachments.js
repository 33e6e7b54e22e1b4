import { button, create, element } from './elements.js';

/** The service takes 4 MiB with the whole conversation. */
const MAX_BYTES = 512 * 1024;

/** The images that providers take. */
const IMAGE = /^image\/(?:png|jpeg|gif|webp)$/;
const MAX_IMAGES = 10;
/** Models see no more than this of a longer side. */
const MAX_SIDE_PX = 1568;
/** An image up to this size is sent as it is. */
const MAX_IMAGE_BYTES = 256 * 1024;

/**
 * Puts text files into the message, and images beside it: from a file picker, by pasting them, or by dropping them on the page.
 */
export class Attachments {
  #list = element('images', HTMLUListElement);
  /** As `data:` URLs. @type {string[]} */
  #images = [];

  /**
   * @param {import('./message-box.js').MessageBox} message
   * @param {import('./settings.js').Settings} settings
   * @param {(text: string) => void} tell shows a sentence to the user
   */
  constructor(message, settings, tell) {
    this.message = message;
    this.settings = settings;
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

  get images() {
    return this.#images;
  }

  /** Returns the images, and removes them from the message. */
  takeImages() {
    const images = this.#images;
    this.restore([]);
    return images;
  }

  /** Puts images beside the message. @param {readonly string[]} images */
  restore(images) {
    this.#images = [...images];
    this.#show();
  }

  /**
   * Why the images cannot be sent. `undefined`: they can.
   *
   * @param {number} [count]
   */
  problemWith(count = this.#images.length) {
    if (count === 0) return undefined;
    const [without] = this.settings.modelsWithoutImages;
    if (without !== undefined) return `${without} takes no images.`;
    return count > MAX_IMAGES ? `A message takes up to ${MAX_IMAGES} images.` : undefined;
  }

  #show() {
    this.#list.hidden = this.#images.length === 0;
    this.#list.replaceChildren(
      ...this.#images.map((src, index) => {
        const remove = button('Remove', () => {
          this.#images.splice(index, 1);
          this.#show();
          this.message.focus();
        });
        remove.setAttribute('aria-label', `Remove image ${index + 1}`);
        return create('li', '', create('img', { src, alt: `Image ${index + 1}` }), remove);
      }),
    );
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
      const problem = IMAGE.test(file.type) ? await this.#addImage(file) : await this.#addText(file);
      if (problem !== undefined) refused.push(`${file.name}: ${problem}`);
    }
    const added = files.length - refused.length;
    this.message.focus();
    this.tell(
      [
        ...(added === 0 ? [] : [added === 1 ? 'The file is in the message.' : `${added} files are in the message.`]),
        ...refused,
      ].join(' '),
    );
  }

  /** @param {File} file @returns why the image was refused */
  async #addImage(file) {
    const problem = this.problemWith(this.#images.length + 1);
    if (problem !== undefined) return problem;
    const url = await imageUrl(file);
    if (url === undefined) return 'The browser cannot read this image.';
    this.#images.push(url);
    this.#show();
    return undefined;
  }

  /** @param {File} file @returns why the file was refused */
  async #addText(file) {
    const text = file.size > MAX_BYTES ? undefined : await textOf(file);
    if (text === undefined) return 'Only images, and text files of up to 512 KiB, can be sent.';
    this.#append(file.name, text);
    return undefined;
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

/**
 * The image as a `data:` URL. A large one is made smaller. `undefined` if the browser cannot read it.
 *
 * @param {File} file
 */
async function imageUrl(file) {
  try {
    const image = await createImageBitmap(file);
    const scale = Math.min(1, MAX_SIDE_PX / Math.max(image.width, image.height));
    if (scale === 1 && file.size <= MAX_IMAGE_BYTES) return await dataUrl(file);
    const canvas = create('canvas', {
      width: Math.round(image.width * scale),
      height: Math.round(image.height * scale),
    });
    canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
    return canvas.toDataURL('image/jpeg', 0.85);
  } catch {
    return undefined;
  }
}

/** @param {File} file @returns {Promise<string>} */
function dataUrl(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => resolve(String(reader.result)));
    reader.addEventListener('error', () => reject(reader.error));
    reader.readAsDataURL(file);
  });
}
