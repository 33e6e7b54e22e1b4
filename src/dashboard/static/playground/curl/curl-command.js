import { STREAM_PATH } from '../answer/answer-stream.js';

/** Linux takes no argument above 128 KiB. */
const LONGEST_ARGUMENT_BYTES = 100_000;

/**
 * The request as a command for a POSIX shell that reads the key from `$API_KEY`.
 *
 * @param {string} origin
 * @param {import('../answer/answer-stream.js').ChatRequest} request
 */
export function curlCommand(origin, request) {
  // JSON has no line breaks and no control characters of its own: all of them are escaped.
  const body = quoted(JSON.stringify(request));
  const isShort = new TextEncoder().encode(body).length <= LONGEST_ARGUMENT_BYTES;
  const lines = [
    `curl -N ${quoted(origin + STREAM_PATH)}`,
    '  -H "Authorization: Bearer $API_KEY"',
    "  -H 'Content-Type: application/json'",
    `  --data-raw ${body}`,
  ];
  if (isShort) return lines.join(' \\\n');
  // The shell's own printf takes what an argument of a program does not.
  return `printf '%s' ${body} |\n${[...lines.slice(0, -1), '  --data-binary @-'].join(' \\\n')}`;
}

/**
 * One word of the shell: nothing has a meaning between single quotes, but for these themselves.
 *
 * @param {string} text
 */
function quoted(text) {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
