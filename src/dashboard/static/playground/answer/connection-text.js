/**
 * What the page says while there is no connection.
 *
 * @param {number | undefined} lastTextAt in milliseconds since 1970
 */
export function lostConnectionText(lastTextAt) {
  const last =
    lastTextAt === undefined
      ? 'No text has arrived yet.'
      : `The last text arrived at ${new Date(lastTextAt).toLocaleTimeString([], { timeStyle: 'medium' })}.`;
  return `Connection lost. Reconnecting… ${last}`;
}
