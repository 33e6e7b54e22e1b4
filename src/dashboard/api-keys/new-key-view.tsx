import type { CreatedApiKey } from '../../accounts/api-keys/api-keys.service.js';
import { curlLine } from '../../common/text/curl-line.js';
import { javascriptCode, pythonCode } from '../../common/text/request-code.js';
import { Copyable } from '../parts/copyable.js';
import { Moment } from '../format/times.js';
import { API_KEYS_PATH } from '../paths.js';
import type { SdkSnippet } from './sdk-code.js';

export interface NewKey {
  readonly created: CreatedApiKey;
  /** The origin of the service, for the example command. */
  readonly origin: string;
  readonly model: string | undefined;
  /** The programs with SDKs. They contain the key. */
  readonly sdkSnippets: readonly SdkSnippet[];
  readonly replaced: ReplacedKey | undefined;
}

/** The old key, after a rotation. */
export interface ReplacedKey {
  readonly prefix: string;
  readonly endsAt: Date;
}

/** Shows a key that was created just now. The full key is shown only once. */
export function NewKeyView({ created, origin, model, sdkSnippets, replaced }: NewKey) {
  const { name, key } = created;
  const programs: readonly Program[] = model === undefined ? [] : [...programsOf(origin, key, model), ...sdkSnippets];
  return (
    <section class="new-key" data-shown-once={API_KEYS_PATH} role="status">
      <h2>Your new key “{name}”</h2>
      <p>
        <strong>Copy the key now: it is shown only once.</strong> Store it in your secret manager.
      </p>
      <Copyable what="key" text={key} id="new-key" wraps />
      {replaced === undefined ? null : (
        <p>
          The old key <code>{replaced.prefix}…</code> expires on <Moment at={replaced.endsAt} withZone />.
        </p>
      )}
      {model === undefined ? null : (
        <>
          <p>Try it in a terminal:</p>
          <Copyable what="command" text={curlLine({ origin, key, model, message: 'Hello!' })} id="try-it" />
          {programs.map(({ id, title, what = title, code }) => (
            <details key={id}>
              <summary>{title}</summary>
              <Copyable what={what} text={code} id={id} />
            </details>
          ))}
        </>
      )}
    </section>
  );
}

type Program = Pick<SdkSnippet, 'id' | 'title' | 'code'> & { readonly what?: string };

function programsOf(origin: string, key: string, model: string): readonly Program[] {
  const request = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello!' }] }, null, 2);
  return [
    {
      id: 'try-javascript',
      title: 'JavaScript (Node)',
      what: 'JavaScript',
      code: javascriptCode({ origin, key, request }),
    },
    { id: 'try-python', title: 'Python', code: pythonCode({ origin, key, request }) },
  ];
}
