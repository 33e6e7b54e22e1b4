import { isUUID } from 'class-validator';
import { ServiceError } from '../../common/service-error.js';
import { OPERATOR_ENTRY } from '../layout/navigation.js';

export const ACCOUNTS_PATH = OPERATOR_ENTRY.path;
/** The same for controllers, which have no slash at the beginning. */
export const ACCOUNTS_ROUTE = ACCOUNTS_PATH.slice(1);

/** The path of the page of an account, or of one of its actions, such as `disable`. */
export function accountPath(accountId: string, action?: string): string {
  return [ACCOUNTS_PATH, accountId, ...(action === undefined ? [] : [action])].join('/');
}

/** @throws {ServiceError} `not_found` for a text that is not the id of an account. */
export function accountIdOf(text: string): string {
  if (isUUID(text)) return text;
  throw new ServiceError('not_found', 'This account does not exist.');
}
