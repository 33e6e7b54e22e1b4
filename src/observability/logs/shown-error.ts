/** How deep causes are told: who wraps errors seldom does it more often. */
const MOST_CAUSES = 3;

export interface ShownError {
  readonly type: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string | undefined;
  readonly cause?: ShownError;
}

/**
 * As much of an error as is logged. Not its other members: those of a database hold what was to be written, those of a parser
 * what it could not read.
 */
export function shownError(error: Error, depth = 0): ShownError {
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown };
  return {
    type: error.name,
    message: error.message,
    ...(typeof code === 'string' ? { code } : {}),
    ...(depth === 0 ? { stack: error.stack } : {}),
    ...(cause instanceof Error && depth < MOST_CAUSES ? { cause: shownError(cause, depth + 1) } : {}),
  };
}
