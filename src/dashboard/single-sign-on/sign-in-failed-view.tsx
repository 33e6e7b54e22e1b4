import type { ServiceError } from '../../common/service-error.js';
import { waitingTime } from '../format/times.js';

interface SignInFailedViewProps {
  readonly error: ServiceError;
  /** The path of the page on which the person can try again. */
  readonly back: string;
  readonly requestId: string;
}

/** Says why a sign-in at the issuer has failed. */
export function SignInFailedView({ error, back, requestId }: SignInFailedViewProps) {
  const { message, retryAfterSeconds } = error;
  return (
    <section class="error-page">
      <p class="status">{error.status}</p>
      <h1>Sign-in failed</h1>
      <p>{message}</p>
      {retryAfterSeconds === undefined ? null : <p>Try again in {waitingTime(retryAfterSeconds)}.</p>}
      <p>
        <a href={back} role="button" class="outline">
          Back
        </a>
      </p>
      <p class="fine">
        Request ID: <code>{requestId}</code>
      </p>
    </section>
  );
}
