const STREAM_PATH = '/api/v1/chat/stream';

/** Linux rejects arguments longer than 128 KiB. This limit leaves some room. */
const MAX_ARGUMENT_BYTES = 100_000;

/**
 * The request as a command for a POSIX shell. The command reads the API key from `$API_KEY`.
 *
 * @param {string} origin
 * @param {import('../../client.js').ChatRequest} request
 */
export function curlCommand(origin, request) {
  // The JSON text contains no line breaks and no control characters, because JSON.stringify escapes them.
  const body = quoted(JSON.stringify(request));
  const isShort = new TextEncoder().encode(body).length <= MAX_ARGUMENT_BYTES;
  const lines = [
    `curl -N ${quoted(origin + STREAM_PATH)}`,
    '  -H "Authorization: Bearer $API_KEY"',
    "  -H 'Content-Type: application/json'",
    `  --data-raw ${body}`,
  ];
  if (isShort) return lines.join(' \\\n');
  // `printf` is a shell builtin, so the limit for program arguments does not apply to it.
  return `printf '%s' ${body} |\n${[...lines.slice(0, -1), '  --data-binary @-'].join(' \\\n')}`;
}

/**
 * Quotes the text as one shell word. Between single quotes, only the single quote itself has a special meaning.
 *
 * @param {string} text
 */
function quoted(text) {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
