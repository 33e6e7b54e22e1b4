import { ServiceError, type ErrorDetail } from '../../platform/common/service-error.js';
import type { Config } from '../../platform/config/config.js';
import { isEmail } from '../account/account.entity.js';
import { passwordProblem } from '../passwords/password-policy.js';

export function emailProblems(email: string): ErrorDetail[] {
  return isEmail(email) ? [] : [{ field: 'email', message: 'This is not a valid email address.' }];
}

export function tierProblems({ tiers }: Pick<Config, 'tiers'>, tier: string): ErrorDetail[] {
  if (tiers.has(tier)) return [];
  const known = [...tiers.keys()].join(', ');
  return [{ field: 'tier', message: `There is no tier "${tier}". The tiers are: ${known}.` }];
}

/** @param field the member of the request that has the password. */
export function passwordProblems(
  { passwords }: Pick<Config, 'passwords'>,
  password: string,
  email: string,
  field = 'password',
): ErrorDetail[] {
  const message =
    passwords === 'off'
      ? 'Accounts have no passwords here (PASSWORDS=off): people sign in by single sign-on.'
      : passwordProblem(password, email);
  return message === undefined ? [] : [{ field, message }];
}

/** @throws {ServiceError} `invalid_request` with the problems, if there are any. */
export function expectNoProblems(details: readonly ErrorDetail[]): void {
  if (details.length > 0) throw invalidDetails(details);
}

export function wrongCurrentPassword(): ServiceError {
  return invalidDetails([{ field: 'current_password', message: 'The current password is incorrect.' }]);
}

/** The error for an address that another account has. */
export function emailTaken(): ServiceError {
  return invalidDetails([{ field: 'email', message: 'An account with this email already exists.' }]);
}

function invalidDetails(details: readonly ErrorDetail[]): ServiceError {
  return new ServiceError('invalid_request', 'The account details are invalid.', { details });
}
