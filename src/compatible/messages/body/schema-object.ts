import { z } from 'zod';

/** An object whose members the service passes on and does not interpret, such as a JSON Schema. */
export const schemaObject = z
  .custom<Readonly<Record<string, unknown>>>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    { error: 'must be an object' },
  )
  // For the OpenAPI document: JSON Schema cannot express a function.
  .meta({ type: 'object' });
