import { curlCommand } from './curl-command.js';

const SHOWN_MS = 4000;

/** Shows the request as a command, and copies it. */
export class CurlPanel {
  /**
   * @param {{ panel: HTMLDetailsElement, command: HTMLElement, copy: HTMLButtonElement, outcome: HTMLElement }} elements
   * @param {() => import('./answer-stream.js').ChatRequest} request
   */
  constructor(elements, request) {
    this.elements = elements;
    this.request = request;
    elements.panel.addEventListener('toggle', () => this.refresh());
    elements.copy.hidden = false;
    elements.copy.addEventListener('click', () => void this.#copy());
  }

  /** To be called when the request may have changed. */
  refresh() {
    const { panel, command } = this.elements;
    // A long conversation is not written out with each letter for nobody to see.
    if (panel.open) command.textContent = curlCommand(location.origin, this.request());
  }

  async #copy() {
    const { command, outcome } = this.elements;
    try {
      await navigator.clipboard.writeText(command.textContent ?? '');
      outcome.textContent = 'Copied.';
    } catch {
      // Without HTTPS, or without leave: the reader's own shortcut works always.
      getSelection()?.selectAllChildren(command);
      outcome.textContent = 'Selected: press Ctrl+C or ⌘C.';
    }
    setTimeout(() => {
      outcome.textContent = '';
    }, SHOWN_MS);
  }
}
