import type { RequestCode } from './request-code.js';

/** Returns a curl command for a chat request to the service. A user can paste it into a shell. */
export function curlLine({ origin, key, request }: RequestCode): string {
  return [
    `curl -N ${quoted(`${origin}/api/v1/chat/stream`)}`,
    // Double quotes, because the shell must replace $API_KEY.
    `  -H ${key === undefined ? '"Authorization: Bearer $API_KEY"' : quoted(`Authorization: Bearer ${key}`)}`,
    `  -H ${quoted('Content-Type: application/json')}`,
    `  -d ${quoted(request)}`,
  ].join(' \\\n');
}

/** Quotes a text, so that a shell reads it as one word, whatever characters it contains. */
function quoted(text: string): string {
  return /^[\w:/.@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
