import { WebClient } from './web-client.js';

/** A browser without scripts: it asks for pages. */
export function browserClient(origin: string): WebClient {
  return new WebClient(origin, { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' });
}

/** The value of a field of a form in a page. */
export function fieldIn(html: string, name: string): string {
  return new RegExp(`<input[^>]* name="${name}"[^>]* value="([^"]*)"`).exec(html)?.[1] ?? '';
}
