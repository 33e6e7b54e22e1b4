export interface CurlLine {
  /** Scheme, host and port of the service. */
  readonly origin: string;
  readonly key: string;
  readonly model: string;
  readonly message: string;
}

/** A command that asks the service, ready to be pasted into a shell. */
export function curlLine({ origin, key, model, message }: CurlLine): string {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: message }] });
  return [
    `curl -N ${quoted(`${origin}/api/v1/chat/stream`)}`,
    `  -H ${quoted(`Authorization: Bearer ${key}`)}`,
    `  -H ${quoted('Content-Type: application/json')}`,
    `  -d ${quoted(body)}`,
  ].join(' \\\n');
}

/** One word for a shell, whatever is in it. */
export function quoted(text: string): string {
  return /^[\w:/.@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
