import type { ComponentChildren } from 'preact';

interface SectionProps {
  /** The id of the heading, for links. */
  readonly id: string;
  readonly title: ComponentChildren;
  /** A link next to the heading. */
  readonly link?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A part of a page with a heading, by which screen readers name the part. */
export function Section({ id, title, link, children }: SectionProps) {
  const heading = <h2 id={id}>{title}</h2>;
  return (
    <section aria-labelledby={id}>
      {link === undefined ? (
        heading
      ) : (
        <div class="section-head">
          {heading}
          {link}
        </div>
      )}
      {children}
    </section>
  );
}

/** Leads from a page to the list that it belongs to. */
export function BackLink({ to, children }: { readonly to: string; readonly children: string }) {
  return (
    <p>
      <a href={to}>← {children}</a>
    </p>
  );
}

interface NoticeProps {
  /** `good` reports that an action succeeded. */
  readonly tone?: 'good';
  readonly children: ComponentChildren;
}

/** A box with a message, which screen readers announce. Shows nothing without a message. */
export function Notice({ tone, children }: NoticeProps) {
  if (children === undefined || children === false) return null;
  return (
    <div class={`notice ${tone ?? ''}`} role="status">
      {children}
    </div>
  );
}

/** A name and a value. */
export type Fact = readonly [label: string, value: ComponentChildren];

/** A list of names and values. An entry that is no fact is left out. */
export function Facts({ facts }: { readonly facts: readonly (Fact | false)[] }) {
  return (
    <dl class="facts">
      {facts
        .filter((fact) => fact !== false)
        .map(([label, value]) => (
          <>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </>
        ))}
    </dl>
  );
}

interface CopyableProps {
  /** A name for the text, in one word, such as "key". */
  readonly what: string;
  readonly text: string;
  readonly id: string;
  /** Whether long lines wrap. By default the box scrolls sideways. */
  readonly wraps?: boolean;
}

/** Text in a box, with a button that copies the text. The button works if the page's script calls `offerCopying()`. */
export function Copyable({ what, text, id, wraps = false }: CopyableProps) {
  return (
    <div class="copyable">
      <pre tabIndex={0} class={wraps ? 'wraps' : ''} aria-label={what}>
        <code id={id}>{text}</code>
      </pre>
      <p class="needs-script">
        <button type="button" class="quiet" data-copies={id}>
          Copy {what}
        </button>
        <span role="status" />
      </p>
    </div>
  );
}
