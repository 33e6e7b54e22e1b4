import type { ComponentChildren } from 'preact';
import { LocalTime } from '../numbers-and-times.js';
import { PageForm, type PageFormProps } from '../forms/page-form.js';
import type { Page } from '../layout/layout.js';
import { BackLink, Copyable, Facts, type Fact } from './blocks.js';

interface ActionPage
  extends
    Required<Pick<Page, 'title' | 'section'>>,
    Pick<Page, 'script'>,
    Pick<PageFormProps, 'action' | 'fields' | 'button' | 'tone' | 'problems' | 'once'> {
  readonly heading: string;
  /** What the action does. */
  readonly text: string;
  readonly facts?: readonly Fact[];
  /** What stands between the facts and the form. */
  readonly more?: ComponentChildren;
  /** The account that is signed in. */
  readonly accountId: string;
  /** The page that the user came from. */
  readonly cancel: string;
}

/** The page with the form of one action, which says what the action does. */
export function actionPage({ title, section, script, heading, text, facts, more, ...form }: ActionPage): Page {
  const content = (
    <>
      <h1>{heading}</h1>
      <p>{text}</p>
      {facts === undefined ? null : <Facts facts={facts} />}
      {more}
      <PageForm {...form} />
    </>
  );
  return { title, section, width: 'narrow', ...(script === undefined ? {} : { script }), content };
}

interface ActionResult extends Required<Pick<Page, 'section'>>, Pick<PageFormProps, 'action' | 'accountId' | 'button'> {
  /** Also the heading of the page. */
  readonly title: string;
  /** The page that the user came from. */
  readonly from: { readonly path: string; readonly name: string };
  readonly facts: readonly Fact[];
  /** What remains of the action. */
  readonly note: string;
}

/** The page with the result of an action, and a button to do it again. */
export function resultPage({ title, section, from, facts, note, ...form }: ActionResult): Page {
  const content = (
    <>
      <h1>{title}</h1>
      <BackLink to={from.path}>{from.name}</BackLink>
      <Facts facts={facts} />
      <PageForm {...form} tone="quiet" />
      <p class="fine">{note}</p>
    </>
  );
  return { title, section, content };
}

interface OutcomeProps {
  readonly isGood?: boolean;
  readonly label: string;
  readonly text: string;
}

/** How an action ended. */
export function Outcome({ isGood = false, label, text }: OutcomeProps) {
  return (
    <>
      <span class={isGood ? 'badge good' : 'badge bad'}>{label}</span> {text}
    </>
  );
}

export interface ShownOnceProps {
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

/** What an operator has to know about a new one-time link. */
export function LinkNote({ expiresAt }: { readonly expiresAt: Date }) {
  return (
    <>
      The link works once. It expires on <LocalTime at={expiresAt} />.
    </>
  );
}
