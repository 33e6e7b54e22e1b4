import { Copyable } from '../../parts/copyable.js';
import { OPERATOR_KEYS_PATH } from './operator-keys-path.js';

/** Shows an operator key that was created just now. */
export function NewOperatorKeyView({ name, secret }: { readonly name: string; readonly secret: string }) {
  return (
    <>
      <h1>New operator key</h1>
      <section class="new-key" role="status" data-shown-once={OPERATOR_KEYS_PATH}>
        <p>
          <strong>Copy the key “{name}” now: it is shown only once.</strong> Whoever has the key has its access to all
          accounts.
        </p>
        <Copyable what="key" text={secret} id="new-operator-key" wraps />
      </section>
      <p>
        <a href={OPERATOR_KEYS_PATH}>Done</a>
      </p>
    </>
  );
}
