import type { MadeAccess, MadeOptions } from '../../../accounts/operator-keys/operator-tree.js';
import type { FormField } from '../forms/page-form.js';
import { accountPath } from '../paths.js';

/** The fields with which an operator decides what happens to what an operator or an operator key has made. */
export interface MadeForm {
  /** Set if the form has the checkboxes. Browsers send a checkbox only when it is checked. */
  readonly asks?: string;
  readonly end_made?: string;
  readonly end_operators?: string;
}

export function madeIn({ asks, end_made: endMade, end_operators: endOperators }: MadeForm): MadeOptions {
  return { keepMade: asks !== undefined && endMade === undefined, endOperators: endOperators !== undefined };
}

/** Returns the fields of a form that ends an operator or an operator key. If it has made nothing, nothing is asked. */
export function madeFields(made: readonly MadeAccess[]): readonly FormField[] {
  if (made.length === 0) return [];
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
  return made.some(({ isOfPeople }) => isOfPeople) ? [asks, own, people] : [asks, own];
}

const KINDS: Readonly<Record<MadeAccess['kind'], string>> = {
  'operator-key': 'Operator key',
  operator: 'Operator',
  invitation: 'Invitation of',
  'password-link': 'Link for a new password of',
};

/** The tree of what an operator or an operator key has made. */
export function MadeTree({ made, root }: { readonly made: readonly MadeAccess[]; readonly root: string }) {
  if (made.length === 0) return null;
  const makers = new Set(made.filter(isMaker).map(({ id }) => id));
  // The list has no keys that have ended. What such a key has made stands at the top.
  const isTop = ({ madeBy }: MadeAccess) => madeBy === root || !makers.has(madeBy);
  return (
    <section>
      <h2>What it has made</h2>
      <Branch here={made.filter(isTop)} made={made} />
    </section>
  );
}

interface BranchProps {
  /** The entries of the branch. */
  readonly here: readonly MadeAccess[];
  readonly made: readonly MadeAccess[];
}

function Branch({ here, made }: BranchProps) {
  if (here.length === 0) return null;
  // Two operators can have made each other.
  const rest = made.filter((each) => !here.includes(each));
  return (
    <ul>
      {here.map((each) => (
        <li key={`${each.kind} ${each.id}`}>
          {KINDS[each.kind]} {nameOf(each)}
          {each.isOfPeople ? ' (made by a person)' : null}
          {isMaker(each) ? <Branch here={rest.filter(({ madeBy }) => madeBy === each.id)} made={rest} /> : null}
        </li>
      ))}
    </ul>
  );
}

function isMaker({ kind }: MadeAccess): boolean {
  return kind === 'operator-key' || kind === 'operator';
}

function nameOf({ kind, id, name }: MadeAccess) {
  if (kind === 'operator' || kind === 'password-link') return <a href={accountPath(id)}>{name}</a>;
  return <strong>{name}</strong>;
}
