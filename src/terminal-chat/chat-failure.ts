export interface ChatFailureDetails {
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  /** The value of the header `Retry-After`, as the service sent it. */
  readonly retryAfter?: string | undefined;
  readonly requestId?: string | undefined;
  /** One line for each invalid field of the request. */
  readonly lines?: readonly string[];
  readonly cause?: unknown;
}

/** There is no answer: the service refused the request, or the service could not be reached. */
export class ChatFailure extends Error {
  constructor(
    message: string,
    readonly details: ChatFailureDetails = {},
  ) {
    super(message, { cause: details.cause });
    this.name = 'ChatFailure';
  }
}

/** The answer began and then broke off. The printed text is incomplete. */
export class IncompleteAnswer extends ChatFailure {
  constructor(message: string, details: ChatFailureDetails = {}) {
    super(message, details);
    this.name = 'IncompleteAnswer';
  }
}

/** Describes a failure for a person: the problem, and the details that the service sent. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof ChatFailure)) return error instanceof Error ? error.message : String(error);
  const { status, code, retryAfter, requestId, lines = [] } = error.details;
  const what = [status, code].filter((part) => part !== undefined).join(' ');
  return [
    `${error instanceof IncompleteAnswer ? 'The answer is NOT complete: ' : ''}${what === '' ? '' : `${what}: `}${error.message}`,
    ...lines.map((line) => `  ${line}`),
    ...(retryAfter === undefined ? [] : [`  Try again in ${retryAfter} s.`]),
    ...(requestId === undefined ? [] : [`  Request ID: ${requestId}`]),
  ].join('\n');
}
