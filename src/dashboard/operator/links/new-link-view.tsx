import type { ComponentChildren } from 'preact';
import { Moment } from '../../format/times.js';
import { Copyable } from '../../parts/copyable.js';

export interface NewLinkViewProps {
  readonly title: string;
  /** The whole link. It is shown only once. */
  readonly link: string;
  readonly expiresAt: Date;
  /** The path of the page that follows. */
  readonly next: string;
  /** Who gets the link, and what it does. */
  readonly children: ComponentChildren;
}

/** Shows a one-time link that was created just now. */
export function NewLinkView({ title, link, expiresAt, next, children }: NewLinkViewProps) {
  return (
    <>
      <h1>{title}</h1>
      <section class="new-key" role="status" data-shown-once={next}>
        <p>
          <strong>Copy the link now: it is shown only once.</strong> {children}
        </p>
        <Copyable what="link" text={link} id="new-link" wraps />
        <p class="fine">
          The link works once. It expires on <Moment at={expiresAt} withZone />.
        </p>
      </section>
      <p>
        <a href={next}>Done</a>
      </p>
    </>
  );
}
