import { Reflector, type ModuleRef } from '@nestjs/core';
import { Strategy } from 'passport';
import type { Principal } from '../../../../src/auth/principal/principal.js';
import type { OperatorAccess } from '../../../../src/auth/operators/operator-access.js';
import { AuthenticationGuard } from '../../../../src/auth/strategies/authentication.guard.js';
import { extensionsOf } from '../../../support/extensions.js';

export const SEND_A_KEY = 'Send an API key as "Authorization: Bearer <API key>".';

/** The methods that Passport gives to a strategy. */
export interface Verdict {
  success(principal: Principal): void;
  fail(challenge?: string | number): void;
  pass(): void;
  error(error: unknown): void;
}

export type Decision = (strategy: Verdict) => void;

/** A strategy that decides as the test says. */
export class Decided extends Strategy {
  constructor(private readonly decide: Decision) {
    super();
  }

  override authenticate(): void {
    this.decide(this);
  }
}

/** The routes of these tests are not for operators. */
export const NO_OPERATORS = {} as OperatorAccess;

export function newGuard(): AuthenticationGuard {
  return new AuthenticationGuard(new Reflector(), {} as ModuleRef, extensionsOf(), NO_OPERATORS);
}
