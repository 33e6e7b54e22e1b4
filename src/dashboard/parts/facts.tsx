import type { ComponentChildren } from 'preact';

/** A name and a value. */
export type Fact = readonly [label: string, value: ComponentChildren];

/** A list of names and values. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl class="facts">
      {facts.map(([label, value]) => (
        <>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </>
      ))}
    </dl>
  );
}
