import { PageForm, type PageFormProps } from '../forms/page-form.js';
import type { Page } from '../page.js';
import { type Fact, Facts } from './blocks.js';

interface Confirmation
  extends
    Required<Pick<Page, 'title' | 'section'>>,
    Pick<Page, 'script'>,
    Pick<PageFormProps, 'action' | 'fields' | 'button' | 'tone' | 'problems' | 'once'> {
  readonly heading: string;
  /** What the action does. */
  readonly text: string;
  readonly facts: readonly Fact[];
  /** The account that is signed in. */
  readonly accountId: string;
  /** The page that the user came from. */
  readonly cancel: string;
}

/** The page that asks the user to confirm an action. */
export function confirmationPage({ title, section, script, heading, text, facts, ...form }: Confirmation): Page {
  const content = (
    <>
      <h1>{heading}</h1>
      <p>{text}</p>
      <Facts facts={facts} />
      <PageForm {...form} />
    </>
  );
  return { title, section, width: 'narrow', ...(script === undefined ? {} : { script }), content };
}
