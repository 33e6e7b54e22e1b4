import type { RefusedRequest } from '../../../observability/refusals/refused-request.js';
import { count } from '../../format/numbers.js';
import { Moment } from '../../format/times.js';
import { REQUESTS_ENTRY } from '../../layout/navigation.js';
import { Facts, type Fact } from '../../parts/facts.js';
import { KeyName } from '../../usage/key-names.js';
import { RefusalReason } from '../../usage/refusal-reason.js';
import { AccountName, type Emails } from '../account-name.js';

interface RefusedViewProps {
  readonly refused: RefusedRequest;
  readonly emails: Emails;
}

/** The page of operators with the facts about a refused request. */
export function RefusedView({ refused, emails }: RefusedViewProps) {
  const { requestId, accountId, method, route, model, status, errorCode, reason, message, similar, refusedAt } =
    refused;
  const facts: readonly (Fact | undefined)[] = [
    ['Request ID', <code>{requestId}</code>],
    ['Status', <span class="badge bad">{`Refused: ${status}`}</span>],
    ['Error', <code>{errorCode}</code>],
    reason === null ? undefined : ['Reason', <RefusalReason refused={refused} />],
    message === null ? undefined : ['Message', message],
    ['Account', <AccountName id={accountId} emails={emails} />],
    ['Key', <KeyName {...refused} keys={[]} />],
    ['Request', <code>{`${method} ${route ?? '(no route)'}`}</code>],
    ['Model', model === null ? 'Unknown' : <code>{model}</code>],
    ['Time', <Moment at={new Date(refusedAt)} withSeconds withZone />],
    similar === 0 ? undefined : ['Similar requests', `${count(similar)} more in the same minute`],
  ];
  return (
    <div class="usage">
      <h1>Refused request</h1>
      <p>
        <a href={REQUESTS_ENTRY.path}>← Requests</a>
      </p>
      <Facts facts={facts.filter((fact) => fact !== undefined)} />
      <p class="fine">A refused request costs nothing and has no receipt.</p>
    </div>
  );
}
