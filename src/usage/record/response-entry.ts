import type { ServerResponse } from 'node:http';
import type { LedgerEntry } from './ledger-entry.js';

const entries = new WeakMap<ServerResponse, LedgerEntry>();

/** Stores the ledger entry of a response, for observers of finished requests. */
export function holdEntry(response: ServerResponse, entry: LedgerEntry): void {
  entries.set(response, entry);
}

export function entryOf(response: ServerResponse): LedgerEntry | undefined {
  return entries.get(response);
}
