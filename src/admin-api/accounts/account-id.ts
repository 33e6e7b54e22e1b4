import { isUUID } from 'class-validator';
import { ServiceError } from '../../common/service-error.js';

/** @throws {ServiceError} `not_found` for a text that is not the id of an account. */
export function accountIdOf(text: string): string {
  if (isUUID(text)) return text;
  throw new ServiceError('not_found', 'This account does not exist.');
}
