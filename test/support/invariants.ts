/** What holds in every history, whatever fails. The table in docs/architecture.md explains the names. */
export type Invariant =
  | 'text is a prefix'
  | 'one end'
  | 'one call a key'
  | 'one record a call'
  | 'spent + reserved ≤ budget'
  | 'reserved = 0 at rest'
  | 'slots ≤ limit'
  | 'revoked in time'
  | 'valid is accepted'
  | 'delivered at least once'
  | 'one delivery at a time'
  | 'no process exits by itself'
  | 'every request ends'
  | 'no internal error';

export class Violation extends Error {
  constructor(
    readonly invariant: Invariant,
    facts: string,
  ) {
    super(`${invariant}: ${facts}`);
    this.name = 'Violation';
  }
}

/** @throws {Violation} unless the condition holds. */
export function hold(invariant: Invariant, condition: boolean, facts: () => string): void {
  if (!condition) throw new Violation(invariant, facts());
}
