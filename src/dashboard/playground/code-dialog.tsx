import { javascriptCode, pythonCode } from '../../common/text/request-code.js';
import { Copyable } from '../parts/copyable.js';

const LANGUAGES = { curl: 'curl', javascript: 'JavaScript', python: 'Python' } as const;
/** The script replaces this text with the request. */
const PLACE = '{REQUEST}';

/** The dialog with a request as code. The templates hold the code around the request. */
export function CodeDialog({ origin }: { readonly origin: string }) {
  return (
    <>
      <template id="code-javascript">{javascriptCode({ origin, request: PLACE })}</template>
      <template id="code-python">{pythonCode({ origin, request: PLACE })}</template>
      <dialog id="code-dialog" aria-labelledby="code-title">
        <article>
          <header>
            <h2 id="code-title">Request as code</h2>
            <button id="code-close" type="button" class="quiet">
              Close
            </button>
          </header>
          <p id="code-note" class="fine" />
          <fieldset class="languages">
            <legend class="visually-hidden">Language</legend>
            {Object.entries(LANGUAGES).map(([value, label]) => (
              <label key={value}>
                <input type="radio" name="language" value={value} checked={value === 'curl'} />
                {label}
              </label>
            ))}
          </fieldset>
          <Copyable what="code" id="request-code" text="" />
          <p class="fine">
            The code reads an API key from the variable <code>API_KEY</code>. Create a key on the page{' '}
            <a href="/settings/api-keys">API keys</a>.
          </p>
        </article>
      </dialog>
    </>
  );
}
