interface CopyableProps {
  /** What is copied, in a word, such as "key". */
  readonly what: string;
  readonly text: string;
  readonly id: string;
  /** By default lines are scrolled sideways. */
  readonly wraps?: boolean;
}

/** Text in a box with a button that copies it. The page's script calls `offerCopying()` of `copy.js`. */
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
