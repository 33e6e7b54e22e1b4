import { Moment } from '../format/times.js';

/** What an operator has to know about a new one-time link. */
export function LinkNote({ expiresAt }: { readonly expiresAt: Date }) {
  return (
    <>
      The link works once. It expires on <Moment at={expiresAt} withZone />.
    </>
  );
}
