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

interface NoticeProps {
  /** `good` reports that an action succeeded. */
  readonly tone?: 'good';
  readonly children: ComponentChildren;
}

/** A box with a message, which screen readers announce. Shows nothing without a message. */
export function Notice({ tone, children }: NoticeProps) {
  if (children === undefined) return null;
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
