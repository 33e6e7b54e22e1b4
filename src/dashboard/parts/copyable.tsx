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
