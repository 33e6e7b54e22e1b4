import type { ChatClient } from '../chat-client.js';
import { ChatError } from '../chat-error.js';
import type { ChatStream } from '../chat-stream.js';
import { receiptFacts } from '../receipt-facts.js';

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

/** The control characters that could move the cursor or change the terminal. Line breaks and tabs are not included. */
const CONTROL_CHARACTERS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** Prints the receipt of an answer below the answer. Prints nothing if there is no receipt. */
export async function printReceipt(client: ChatClient, { requestId }: ChatStream): Promise<void> {
  const receipt = requestId === undefined ? undefined : await client.receipt(requestId).catch(() => undefined);
  if (receipt !== undefined) process.stderr.write(`[${receiptFacts(receipt).join(' · ')}]\n`);
}

/** Prints each piece, the end and the failure of an answer as a line of JSON, in the form of the service's events. */
export async function printEvents(pieces: AsyncIterable<string>): Promise<void> {
  const print = (event: object) => process.stdout.write(`${JSON.stringify(event)}\n`);
  try {
    for await (const content of pieces) print({ content, done: false });
    print({ content: '', done: true });
  } catch (error) {
    const { code = 'connection_lost', message } = error as { readonly code?: string; readonly message: string };
    print({ content: '', done: false, error: { code, message } });
    throw error;
  }
}

/** Prints the pieces as they arrive. */
export async function printAnswer(pieces: AsyncIterable<string>, onPiece?: (piece: string) => void): Promise<void> {
  let started = false;
  try {
    for await (const piece of pieces) {
      started = true;
      onPiece?.(piece);
      // The text of a model must not control the terminal. A file or another program gets the text unchanged.
      process.stdout.write(process.stdout.isTTY ? piece.replace(CONTROL_CHARACTERS, '') : piece);
    }
  } finally {
    if (started) process.stdout.write('\n');
  }
}
