import type { Response } from 'express';
import type { Type } from '@nestjs/common';
import { getMetadataStorage } from 'class-validator';

const IGNORED_MEMBERS_HEADER = 'X-Ignored-Parameters';
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

/**
 * Returns the body without the members that its class does not define. Members of nested objects stay.
 *
 * @param ignore is called with the name of each member that is left out.
 */
export function withoutUnknown(body: object, type: Type<object>, ignore: (member: string) => void): object {
  const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  const known = new Set(rules.map(({ propertyName }) => propertyName));
  const members = Object.entries(body) as [string, unknown][];
  for (const [member] of members) if (!known.has(member)) ignore(member);
  return Object.fromEntries(members.filter(([member]) => known.has(member)));
}
