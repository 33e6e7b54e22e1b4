export interface ChatFailureDetails {
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  /** As the service sent it. */
  readonly retryAfter?: string | undefined;
  readonly requestId?: string | undefined;
  /** One line for each wrong member of the request. */
  readonly lines?: readonly string[];
  readonly cause?: unknown;
}

/** The service refused, or could not be reached: there is no answer. */
export class ChatFailure extends Error {
  constructor(
    message: string,
    readonly details: ChatFailureDetails = {},
  ) {
    super(message, { cause: details.cause });
    this.name = 'ChatFailure';
  }
}

/** The answer began and then broke off: what was printed is not the whole. */
export class IncompleteAnswer extends ChatFailure {
  constructor(message: string, details: ChatFailureDetails = {}) {
    super(message, details);
    this.name = 'IncompleteAnswer';
  }
}

/** For a person to read: what happened, and what the service said about it. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof ChatFailure)) return error instanceof Error ? error.message : String(error);
  const { status, code, retryAfter, requestId, lines = [] } = error.details;
  const what = [status, code].filter((part) => part !== undefined).join(' ');
  return [
    `${error instanceof IncompleteAnswer ? 'The answer is NOT complete: ' : ''}${what === '' ? '' : `${what}: `}${error.message}`,
    ...lines.map((line) => `  ${line}`),
    ...(retryAfter === undefined ? [] : [`  Retry after ${retryAfter} s.`]),
    ...(requestId === undefined ? [] : [`  Request id: ${requestId}`]),
  ].join('\n');
}
