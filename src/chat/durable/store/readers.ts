import { ServiceError } from '../../../common/service-error.js';
import { MAX_READERS } from './stream-store.js';

const RETRY_AFTER_SECONDS = 1;

/** The error for one reader too many. */
export function tooManyReaders(): ServiceError {
  return new ServiceError('concurrency_limit_exceeded', `A stream can have ${MAX_READERS} readers at the same time.`, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

/** Returns a function that calls `leave` at its first call only. */
export function once(leave: () => void): () => void {
  let isOver = false;
  return () => {
    if (isOver) return;
    isOver = true;
    leave();
  };
}
