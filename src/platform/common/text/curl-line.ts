interface CurlLine {
  /** Scheme, host and port of the service. */
  readonly origin: string;
  readonly key: string;
  readonly model: string;
  readonly message: string;
}

/** Returns a curl command for a chat request to the service. A user can paste it into a shell. */
export function curlLine({ origin, key, model, message }: CurlLine): string {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: message }] });
  return [
    `curl -N ${quoted(`${origin}/api/v1/chat/stream`)}`,
    `  -H ${quoted(`Authorization: Bearer ${key}`)}`,
    `  -H ${quoted('Content-Type: application/json')}`,
    `  -d ${quoted(body)}`,
  ].join(' \\\n');
}

/** Quotes a text, so that a shell reads it as one word, whatever characters it contains. */
export function quoted(text: string): string {
  return /^[\w:/.@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
