import type { ComponentChildren } from 'preact';
import { PageForm, type PageFormProps } from '../forms/page-form.js';
import { Facts, type Fact } from './facts.js';

interface ConfirmationProps extends Pick<PageFormProps, 'action' | 'fields' | 'button' | 'tone' | 'problems' | 'once'> {
  readonly title: string;
  readonly facts: readonly Fact[];
  /** The account that is signed in. */
  readonly accountId: string;
  /** The page that the user came from. */
  readonly cancel: string;
  /** What the action does. */
  readonly children: ComponentChildren;
}

/** The page that asks the user to confirm an action. */
export function Confirmation({ title, facts, children, ...form }: ConfirmationProps) {
  return (
    <>
      <h1>{title}</h1>
      <p>{children}</p>
      <Facts facts={facts} />
      <PageForm {...form} />
    </>
  );
}
