import type { ServiceError } from '../../common/service-error.js';
import { waitingTime } from '../waiting-time.js';

/** The title and the advice for an error, by HTTP status. */
const WORDS: Readonly<Record<number, readonly [title: string, advice: string]>> = {
  400: ['That did not work', 'Go back, and look at what you have entered.'],
  403: ['Not allowed', 'Open the page anew from here, and try again.'],
  404: ['Page not found', 'Check the address, or begin at the start.'],
  405: ['Not like this', 'Open the page anew from here, and try again.'],
  408: ['That took too long', 'Go back, and try again.'],
  413: ['That is too much', 'Go back, and send less.'],
  429: ['Too many attempts', 'Wait a little, and try again.'],
  503: ['Not available right now', 'Nothing is lost. Try again in a moment.'],
};
const UNKNOWN = [
  'Something went wrong',
  'Try again. If it stays like this, tell the operator of this service.',
] as const;

export function errorTitle({ status }: ServiceError): string {
  return (WORDS[status] ?? UNKNOWN)[0];
}

export function ErrorView({ error, requestId }: { readonly error: ServiceError; readonly requestId: string }) {
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
          To the start
        </a>
      </p>
      <p class="fine">
        Request <code>{requestId}</code>
      </p>
    </section>
  );
}
