import type { CascadeOptions, GrantedAccess } from '../../../plugin-api/core/accounts.js';
import type { FormField } from '../forms/page-form.js';
import { accountPath } from '../paths.js';

/** The fields with which an operator decides what happens to what an operator or an operator key has made. */
export interface CascadeForm {
  /** Set if the form has the checkboxes. Browsers send a checkbox only when it is checked. */
  readonly asks?: string;
  readonly end_made?: string;
  readonly end_operators?: string;
}

export function cascadeIn({ asks, end_made: endMade, end_operators: endOperators }: CascadeForm): CascadeOptions {
  return { keepMade: asks !== undefined && endMade === undefined, endOperators: endOperators !== undefined };
}

/** Returns the fields of a form that ends an operator or an operator key. If it has made nothing, nothing is asked. */
export function cascadeFields(granted: readonly GrantedAccess[]): readonly FormField[] {
  if (granted.length === 0) return [];
  const asks: FormField = { type: 'hidden', name: 'asks', value: 'yes' };
  const own: FormField = {
    type: 'checkbox',
    label: 'Also end what it has made',
    name: 'end_made',
    checked: true,
    hint: 'Revokes the keys and links in the list, and ends what the keys have made.',
  };
  const people: FormField = {
    type: 'checkbox',
    label: 'Also people whom people have made operators',
    name: 'end_operators',
    checked: true,
    hint: 'They become members, and what they have made ends, too.',
  };
  return granted.some(({ isOfPeople }) => isOfPeople) ? [asks, own, people] : [asks, own];
}

const KINDS: Readonly<Record<GrantedAccess['kind'], string>> = {
  'operator-key': 'Operator key',
  operator: 'Operator',
  invitation: 'Invitation of',
  'password-link': 'Link for a new password of',
};

/** The tree of what an operator or an operator key has made. */
export function GrantedAccessTree({
  granted,
  root,
}: {
  readonly granted: readonly GrantedAccess[];
  readonly root: string;
}) {
  if (granted.length === 0) return null;
  const makers = new Set(granted.filter(isMaker).map(({ id }) => id));
  // The list has no keys that have ended. What such a key has made stands at the top.
  const isTop = ({ madeBy }: GrantedAccess) => madeBy === root || !makers.has(madeBy);
  return (
    <section>
      <h2>What it has made</h2>
      <Branch here={granted.filter(isTop)} granted={granted} />
    </section>
  );
}

interface BranchProps {
  /** The entries of the branch. */
  readonly here: readonly GrantedAccess[];
  readonly granted: readonly GrantedAccess[];
}

function Branch({ here, granted }: BranchProps) {
  if (here.length === 0) return null;
  // Two operators can have made each other.
  const rest = granted.filter((each) => !here.includes(each));
  return (
    <ul>
      {here.map((each) => (
        <li key={`${each.kind} ${each.id}`}>
          {KINDS[each.kind]} {nameOf(each)}
          {each.isOfPeople ? ' (made by a person)' : null}
          {isMaker(each) ? <Branch here={rest.filter(({ madeBy }) => madeBy === each.id)} granted={rest} /> : null}
        </li>
      ))}
    </ul>
  );
}

function isMaker({ kind }: GrantedAccess): boolean {
  return kind === 'operator-key' || kind === 'operator';
}

function nameOf({ kind, id, name }: GrantedAccess) {
  if (kind === 'operator' || kind === 'password-link') return <a href={accountPath(id)}>{name}</a>;
  return <strong>{name}</strong>;
}
