import type { ComponentChildren } from 'preact';
import { DOCS_PATH } from '../layout/navigation.js';

interface StartViewProps {
  readonly hasChatted: boolean;
  readonly hasKey: boolean;
  readonly hasCalled: boolean;
  readonly hasDocs: boolean;
}

/** The first steps of an account, until its first request with an API key. */
export function StartView({ hasChatted, hasKey, hasCalled, hasDocs }: StartViewProps) {
  return (
    <>
      <h1>Get started</h1>
      <ol class="steps">
        <Step isDone>Create an account</Step>
        <Step isDone={hasChatted}>
          Chat with a model in the <a href="/playground">playground</a>
        </Step>
        <Step isDone={hasKey}>
          Create a key under <a href="/settings/api-keys">API keys</a>
        </Step>
        <Step isDone={hasCalled}>
          Call the API from your code. A new key comes with examples for curl, JavaScript and Python.
          {hasDocs ? (
            <>
              {' '}
              The <a href={DOCS_PATH}>API documentation</a> describes all fields.
            </>
          ) : null}
        </Step>
      </ol>
      <p class="fine">This list disappears after the first request with a key.</p>
    </>
  );
}

function Step({ isDone, children }: { readonly isDone: boolean; readonly children: ComponentChildren }) {
  return (
    <li class={isDone ? 'done' : ''}>
      <span class="badge">{isDone ? 'Done' : 'To do'}</span> {children}
    </li>
  );
}
