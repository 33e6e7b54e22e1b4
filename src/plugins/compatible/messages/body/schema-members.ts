import { z } from 'zod';
import { isObject } from '../../shared/members.js';

/** An object whose members the service passes on and does not interpret, such as a JSON Schema. */
export const schemaObject = z
  .custom<Readonly<Record<string, unknown>>>(isObject, { error: 'must be an object' })
  // For the OpenAPI document: JSON Schema cannot express a function.
  .meta({ type: 'object' });

/**
 * A member that would change the meaning of a request, and that the service does not have. It may be missing, `null` or an empty
 * list.
 *
 * @param advice says what to do instead, as the end of a sentence.
 */
export const unsupportedMember = (advice: string) =>
  z.custom<unknown>(isEmpty, { error: `is not supported: ${advice}` }).describe(`Not supported: ${advice}.`);

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}
