import { ChatError } from '../../client.js';

/**
 * A failure as session storage keeps it, so that a reload shows it again.
 *
 * @typedef {object} KeptFailure
 * @property {ChatError['kind']} kind
 * @property {string} message
 * @property {number | undefined} status
 * @property {string | undefined} code
 * @property {readonly import('../../client.js').ErrorDetail[]} details
 * @property {string | undefined} requestId
 * @property {number | undefined} retryAt in milliseconds since 1970
 */

/**
 * @param {unknown} error
 * @returns {KeptFailure}
 */
export function keptFailure(error) {
  const failure =
    error instanceof ChatError ? error : new ChatError('This page had an error.', { kind: 'invalid', cause: error });
  const { kind, message, status, code, details = [], requestId, retryAfterSeconds } = failure;
  const retryAt = retryAfterSeconds === undefined ? undefined : Date.now() + retryAfterSeconds * 1000;
  return { kind, message, status, code, details, requestId, retryAt };
}
