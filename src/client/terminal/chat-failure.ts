import { ChatError } from '../chat-error.js';

/** Describes a failure for a person: the problem, and the details that the service sent. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof ChatError)) return error instanceof Error ? error.message : String(error);
  const { status, code, details = [], retryAfterSeconds, requestId } = error;
  const what = [status, code].filter((part) => part !== undefined).join(' ');
  return [
    `${isIncompleteAnswer(error) ? 'The answer is NOT complete: ' : ''}${what === '' ? '' : `${what}: `}${sentenceOf(error)}`,
    ...details.map(({ field, message }) => `  ${field}: ${message}`),
    ...(retryAfterSeconds === undefined ? [] : [`  Try again in ${retryAfterSeconds} s.`]),
    ...(requestId === undefined ? [] : [`  Request ID: ${requestId}`]),
  ].join('\n');
}

/** Whether the answer began and did not end, so that the caller may have read a part of it. */
export function isIncompleteAnswer(error: unknown): boolean {
  if (!(error instanceof ChatError)) return false;
  const { kind, partialText = '' } = error;
  return partialText !== '' || (kind !== 'refused' && kind !== 'unreachable');
}

function sentenceOf({ kind, message, cause }: ChatError): string {
  if (kind !== 'unreachable') return message;
  const { code } = { ...(cause as { cause?: { code?: string } } | undefined)?.cause };
  return `${message.slice(0, -1)}${code === undefined ? '' : ` (${code})`}. Is the service running? Start it with: npm start`;
}
