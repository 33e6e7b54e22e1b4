import type { Response } from 'express';

export const IGNORED_MEMBERS_HEADER = 'X-Ignored-Parameters';
/** The most names in the header. */
const MAX_NAMES = 20;
/** A longer name is not worth its bytes. */
const NAME = /^[\w.$-]{1,64}$/;

/** Collects the members of a body that have no effect, and names them in the response. */
export class IgnoredMembers {
  private readonly names = new Set<string>();

  /** Adds a member. The header contains only names of letters, digits, `_`, `.`, `$` and `-`. */
  readonly add = (name: string): void => {
    if (this.names.size < MAX_NAMES && NAME.test(name)) this.names.add(name);
  };

  show(response: Response): void {
    if (this.names.size > 0) response.setHeader(IGNORED_MEMBERS_HEADER, [...this.names].join(', '));
  }
}
