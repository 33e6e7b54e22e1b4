import { ChatError } from '../client/chat-error.js';

/** Describes a failure for a person: the problem, and the details that the service sent. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof ChatError)) return error instanceof Error ? error.message : String(error);
  const { kind, status, code, details = [], retryAfterSeconds, requestId, partialText = '' } = error;
  const hasNotBegun = partialText === '' && (kind === 'refused' || kind === 'unreachable');
  const what = [status, code].filter((part) => part !== undefined).join(' ');
  return [
    `${hasNotBegun ? '' : 'The answer is NOT complete: '}${what === '' ? '' : `${what}: `}${sentenceOf(error)}`,
    ...details.map(({ field, message }) => `  ${field}: ${message}`),
    ...(retryAfterSeconds === undefined ? [] : [`  Try again in ${retryAfterSeconds} s.`]),
    ...(requestId === undefined ? [] : [`  Request ID: ${requestId}`]),
  ].join('\n');
}

function sentenceOf({ kind, message, cause }: ChatError): string {
  if (kind !== 'unreachable') return message;
  const { code } = { ...(cause as { cause?: { code?: string } } | undefined)?.cause };
  return `${message.slice(0, -1)}${code === undefined ? '' : ` (${code})`}. Is the service running? Start it with: npm start`;
}
