import { ServiceError } from '../../common/service-error.js';
import type { HttpProtocol } from '../contract/protocol.js';
import { headerOf, type ResponseHead, type UpstreamExchange } from './upstream-exchange.js';
import { failureOfStatus } from './upstream-failure.js';

/** The maximum number of bytes to read of a provider's error. */
const MAX_ERROR_BYTES = 4_096;

/** Whether the head announces a stream of events that the service can read. */
export function isStream(head: ResponseHead): boolean {
  return head.status === 200 && !isCompressed(head) && !isJson(head);
}

/**
 * Returns the failure for an answer that is not a stream. Reads the beginning of the answer until the exchange is closed.
 * The caller must limit the time.
 */
export async function failureOfAnswer(
  head: ResponseHead,
  exchange: UpstreamExchange,
  protocol: HttpProtocol,
): Promise<ServiceError> {
  if (head.status === 200 && isCompressed(head)) {
    return new ServiceError('upstream_error', 'The provider compressed its answer, which was not asked for.');
  }
  const text = await beginningOf(exchange);
  if (head.status !== 200) return failureOfStatus(head.status, headerOf(head, 'retry-after'), text);
  for (const part of protocol.parts({ event: 'error', data: text })) {
    if (part.type === 'error') return part.error;
  }
  return new ServiceError('upstream_error', 'The provider did not answer with a stream.');
}

function isJson(head: ResponseHead): boolean {
  return headerOf(head, 'content-type')?.toLowerCase().startsWith('application/json') === true;
}

function isCompressed(head: ResponseHead): boolean {
  const encoding = headerOf(head, 'content-encoding')?.trim().toLowerCase() ?? '';
  return encoding !== '' && encoding !== 'identity';
}

async function beginningOf(exchange: UpstreamExchange): Promise<string> {
  let text = '';
  try {
    while (text.length < MAX_ERROR_BYTES && !exchange.isOver) {
      const bytes = exchange.take();
      if (bytes === undefined) await exchange.change();
      else text += bytes.toString('latin1', 0, MAX_ERROR_BYTES - text.length);
    }
  } catch {
    // The status is enough to classify the failure.
  }
  return text;
}
