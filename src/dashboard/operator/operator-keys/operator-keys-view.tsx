import type { ListedOperatorKey } from '../../../accounts/operator-keys/operator-keys.service.js';
import type { OperatorScope } from '../../../accounts/operator-keys/operator-key.entity.js';
import { LIFETIMES } from '../../api-keys/lifetimes.js';
import { KEY_STATES, stateOf } from '../../api-keys/listed-keys.js';
import type { FormProblems } from '../../forms/form-problems.js';
import { PageForm } from '../../forms/page-form.js';
import { Moment } from '../../format/times.js';
import { Notice } from '../../parts/notice.js';
import { OlderLinks } from '../../parts/older-links.js';
import { Table } from '../../parts/table.js';
import { OPERATOR_KEYS_PATH } from './operator-keys-path.js';

/** What a key may do, by its scope. */
const SCOPES: Readonly<Record<OperatorScope, string>> = { read: 'Read', write: 'Read and change' };

/** The values of the form that creates a key. */
export interface OperatorKeyForm {
  readonly name?: string;
  readonly scope?: string;
  readonly expires_in_days?: string;
}

interface OperatorKeysViewProps {
  readonly operatorId: string;
  readonly keys: readonly ListedOperatorKey[];
  readonly latest: string | undefined;
  readonly older: string | undefined;
  readonly now: Date;
  readonly done?: string | undefined;
  readonly form?: OperatorKeyForm | undefined;
  readonly problems?: FormProblems | undefined;
}

/** The page with the keys of the API for operators, and the form that creates one. */
export function OperatorKeysView(props: OperatorKeysViewProps) {
  const { operatorId, keys, now, done, form = {}, problems } = props;
  return (
    <>
      <h1>Operator keys</h1>
      <p class="lead">
        Programs use these keys for the API below <code>/api/v1/admin</code>: they read and manage all accounts. An
        operator key belongs to no account.
      </p>
      <Notice tone="good">{done}</Notice>
      <PageForm
        heading="Create a key"
        action={OPERATOR_KEYS_PATH}
        layout="wide"
        accountId={operatorId}
        fields={[
          { label: 'Name', name: 'name', type: 'text', value: form.name, maxLength: 100, autoComplete: 'off' },
          { label: 'Access', name: 'scope', type: 'select', options: SCOPES, value: form.scope ?? 'read' },
          {
            ...{ label: 'Expires after', name: 'expires_in_days', type: 'select', options: LIFETIMES },
            value: form.expires_in_days ?? '90',
          },
        ]}
        button="Create key"
        problems={problems}
      />
      <section>
        <h2>All operator keys</h2>
        {keys.length === 0 ? <p class="empty">No keys yet.</p> : <Keys {...{ operatorId, keys, now }} />}
        <OlderLinks latest={props.latest} older={props.older} />
      </section>
    </>
  );
}

function Keys({ operatorId, keys, now }: Pick<OperatorKeysViewProps, 'operatorId' | 'keys' | 'now'>) {
  const revoke = (key: ListedOperatorKey) =>
    key.revokedAt === null ? (
      <PageForm
        action={`${OPERATOR_KEYS_PATH}/${key.id}/revoke`}
        accountId={operatorId}
        button="Revoke"
        tone="quiet"
        describedBy={`operator-key-${key.id}`}
      />
    ) : null;
  const state = (key: ListedOperatorKey) => {
    const [label, tone] = KEY_STATES[stateOf(key, now.getTime())];
    return <span class={`badge ${tone}`}>{label}</span>;
  };
  return (
    <Table
      caption="Operator keys, latest first"
      isCards
      rows={keys}
      headId={({ id }) => `operator-key-${id}`}
      isEnded={(key) => stateOf(key, now.getTime()) !== 'active'}
      columns={[
        { title: 'Name', cell: ({ name }) => name },
        { title: 'Key', cell: ({ prefix }) => <code>{prefix}…</code> },
        { title: 'Access', cell: ({ scope }) => SCOPES[scope] },
        { title: 'Created', cell: ({ createdAt }) => <Moment at={createdAt} /> },
        { title: 'Last used', cell: ({ lastUsedAt }) => <Moment at={lastUsedAt} /> },
        { title: 'Expires', cell: ({ expiresAt }) => <Moment at={expiresAt} /> },
        { title: 'State', cell: state },
        { title: 'Actions', isActions: true, cell: revoke },
      ]}
    />
  );
}
