import type { ComponentChildren } from 'preact';

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
