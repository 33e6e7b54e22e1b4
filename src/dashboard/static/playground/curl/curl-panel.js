import { curlCommand } from './curl-command.js';

/** Shows the request as a command, while somebody looks at it. */
export class CurlPanel {
  /**
   * @param {HTMLDetailsElement} panel
   * @param {HTMLElement} command
   * @param {() => import('../answer/answer-stream.js').ChatRequest} request
   */
  constructor(panel, command, request) {
    this.panel = panel;
    this.command = command;
    this.request = request;
    panel.addEventListener('toggle', () => this.refresh());
  }

  /** To be called when the request may have changed. */
  refresh() {
    // A long conversation is not written out with each letter for nobody to see.
    if (this.panel.open) this.command.textContent = curlCommand(location.origin, this.request());
  }
}
