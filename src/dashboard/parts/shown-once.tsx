import type { ComponentChildren } from 'preact';
import type { Page } from '../page.js';
import { Copyable } from './copyable.js';

interface ShownOnceProps {
  /** The title in the browser tab. */
  readonly title: string;
  readonly heading: string;
  /** A name for the secret, in one word, such as "link". */
  readonly what: string;
  /** The name of this secret, if it has one. */
  readonly name?: string;
  readonly secret: string;
  /** Who gets the secret, and what it does. */
  readonly advice: string;
  /** A text below the secret. */
  readonly note?: ComponentChildren;
  /** The path of the page that follows, also if the user reloads the page. */
  readonly next: string;
}

/** The page of operators with a secret that was created just now. No later request can read the secret again. */
export function shownOncePage({ title, heading, what, name, secret, advice, note, next }: ShownOnceProps): Page {
  const content = (
    <>
      <h1>{heading}</h1>
      <section class="new-key" role="status" data-shown-once={next}>
        <p>
          <strong>
            Copy the {what} {name === undefined ? '' : `“${name}” `}now: it is shown only once.
          </strong>{' '}
          {advice}
        </p>
        <Copyable what={what} text={secret} id={`new-${what}`} wraps />
        {note === undefined ? null : <p class="fine">{note}</p>}
      </section>
      <p>
        <a href={next}>Done</a>
      </p>
    </>
  );
  return { title, section: 'accounts', script: 'shown-once.js', content };
}
