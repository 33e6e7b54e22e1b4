import type { Type } from '@nestjs/common';
import { getMetadataStorage } from 'class-validator';

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
