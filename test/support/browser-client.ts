import { WebClient } from './web-client.js';

/** Creates a client that behaves like a browser without scripts. Its `Accept` header requests pages. */
export function browserClient(origin: string): WebClient {
  return new WebClient(origin, { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' });
}

/** The value of a form field in a page. Empty if there is no such field. */
export function fieldIn(html: string, name: string): string {
  return new RegExp(`<input[^>]* name="${name}"[^>]* value="([^"]*)"`).exec(html)?.[1] ?? '';
}
