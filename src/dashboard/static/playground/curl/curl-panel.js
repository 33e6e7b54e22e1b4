import { curlCommand } from './curl-command.js';

/** Shows the request as a curl command while the panel is open. */
export class CurlPanel {
  /**
   * @param {HTMLDetailsElement} panel
   * @param {HTMLElement} command
   * @param {() => import('../../client.js').ChatRequest} request
   */
  constructor(panel, command, request) {
    this.panel = panel;
    this.command = command;
    this.request = request;
    panel.addEventListener('toggle', () => this.refresh());
  }

  /** Updates the command. Call this when the request may have changed. */
  refresh() {
    // A closed panel is not updated: with a long conversation, an update at each keystroke is expensive.
    if (this.panel.open) this.command.textContent = curlCommand(location.origin, this.request());
  }
}
