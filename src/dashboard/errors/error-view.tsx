import type { ServiceError } from '../../common/service-error.js';
import { requestPath } from '../layout/navigation.js';
import { waitingTime } from '../format/times.js';

/** The title and the advice for an error, by HTTP status. */
const WORDS: Readonly<Record<number, readonly [title: string, advice: string]>> = {
  400: ['Invalid request', 'Go back and check what you entered.'],
  403: ['Not allowed', 'Open the page again and retry.'],
  404: ['Page not found', 'Check the address, or go to the home page.'],
  405: ['Method not allowed', 'Open the page again and retry.'],
  408: ['Request timed out', 'Go back and try again.'],
  409: ['Signed in to another account', 'Open the page again to continue with this account.'],
  413: ['Request too large', 'Go back and send less text.'],
  429: ['Too many attempts', 'Wait a moment and try again.'],
  503: ['Temporarily unavailable', 'Your data is safe. Try again in a moment.'],
};
const UNKNOWN = [
  'Something went wrong',
  'Try again. If the problem remains, contact the operator of this service.',
] as const;

export function errorTitle({ status }: ServiceError): string {
  return (WORDS[status] ?? UNKNOWN)[0];
}

interface ErrorViewProps {
  readonly error: ServiceError;
  readonly requestId: string;
  /** Whether the page links to the list of requests. */
  readonly isOperator: boolean;
}

/** The page about an error. */
export function ErrorView({ error, requestId, isOperator }: ErrorViewProps) {
  const [title, advice] = WORDS[error.status] ?? UNKNOWN;
  const { retryAfterSeconds } = error;
  return (
    <section class="error-page">
      <p class="status">{error.status}</p>
      <h1>{title}</h1>
      <p>{error.message}</p>
      <p>{retryAfterSeconds === undefined ? advice : `Try again in ${waitingTime(retryAfterSeconds)}.`}</p>
      <p>
        <a href="/" role="button" class="outline">
          Home
        </a>
      </p>
      <p class="fine">
        Request ID: {isOperator ? <a href={requestPath(requestId)}>{requestId}</a> : <code>{requestId}</code>}
      </p>
    </section>
  );
}
