import type { ComponentChildren } from 'preact';

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
