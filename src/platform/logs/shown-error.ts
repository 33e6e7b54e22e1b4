/** The maximum number of nested causes in a log entry. Code rarely wraps an error more often. */
const MAX_CAUSES = 3;

interface ShownError {
  readonly type: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string | undefined;
  readonly cause?: ShownError;
}

/**
 * Returns the members of an error for the log. Leaves out all other members, because they can contain private data:
 * database errors contain the data to be written, and parser errors contain the unreadable input.
 */
export function shownError(error: Error, depth = 0): ShownError {
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown };
  return {
    type: error.name,
    message: error.message,
    ...(typeof code === 'string' ? { code } : {}),
    ...(depth === 0 ? { stack: error.stack } : {}),
    ...(cause instanceof Error && depth < MAX_CAUSES ? { cause: shownError(cause, depth + 1) } : {}),
  };
}
