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
