import type { ServerResponse } from 'node:http';
import type { LedgerEntry } from './ledger-entry.js';

const entries = new WeakMap<ServerResponse, LedgerEntry>();

/** Keeps which admitted stream a response is, for whoever tells of the request when it is over. */
export function holdEntry(response: ServerResponse, entry: LedgerEntry): void {
  entries.set(response, entry);
}

export function entryOf(response: ServerResponse): LedgerEntry | undefined {
  return entries.get(response);
}
