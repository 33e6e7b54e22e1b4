/**
 * Marks an opaque value of a provider, such as a signature, with the protocol that has made it. Only this protocol sends the value
 * back: another provider would refuse it.
 */
export function markedState(protocol: string, value: string): string {
  return `${protocol}:${value}`;
}

/** Returns the value that {@link markedState} has marked. Returns `undefined` for the value of another protocol. */
export function ownState(protocol: string, marked: string | undefined): string | undefined {
  return marked?.startsWith(`${protocol}:`) === true ? marked.slice(protocol.length + 1) : undefined;
}
