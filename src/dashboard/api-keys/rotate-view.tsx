import type { ListedApiKey } from '../../accounts/api-keys/api-keys.service.js';
import { Choice } from '../forms/choice.js';
import type { FormProblems } from '../forms/field-problems.js';
import { MadeFor } from '../forms/made-for.js';
import { FormFailure } from '../forms/notice.js';
import { KeyFacts } from './key-facts.js';
import { LIFETIMES, OVERLAPS } from './lifetimes.js';

interface RotateViewProps {
  readonly accountId: string;
  readonly apiKey: ListedApiKey;
  /** The id of the new key. If a browser sends the form twice, the service still creates one key. */
  readonly nextId: string;
  readonly problems?: FormProblems;
}

export function RotateView({ accountId, apiKey, nextId, problems }: RotateViewProps) {
  return (
    <>
      <h1>Rotate “{apiKey.name}”</h1>
      <p>You get a new key with the same name. The old key keeps working while you deploy the new one.</p>
      <FormFailure problems={problems} fields={[]} />
      <KeyFacts apiKey={apiKey} />
      <form method="post" action={`/settings/api-keys/${apiKey.id}/rotate`} data-once>
        <MadeFor accountId={accountId} />
        <input type="hidden" name="id" value={nextId} />
        <Choice label="Old key expires" name="old_key_ends_in_hours" options={OVERLAPS} selected="24" />
        <Choice label="New key expires" name="expires_in_days" options={LIFETIMES} selected="never" />
        <div class="actions">
          <button>Rotate</button>
          <a href="/settings/api-keys">Cancel</a>
        </div>
      </form>
    </>
  );
}
