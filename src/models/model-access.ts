import type { Request } from 'express';
import { restrictionsOf } from '../auth/principal/principal.js';
import type { ModelAccess } from './model-catalog.js';

/** Returns the models that the credential of a request may use. `undefined`: all models. */
export function modelAccessOf({ context: { principal } }: Request): ModelAccess | undefined {
  return principal && restrictionsOf(principal);
}
