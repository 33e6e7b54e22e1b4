import { z } from 'zod';
import { isObject } from '../../../plugin-api/core/common.js';

interface VariantDefinition extends z.core.$ZodUnionDef {
  readonly choose: (value: unknown) => z.core.$ZodType;
}

const Variant = z.core.$constructor('Variant', (variant: z.ZodUnion, definition: VariantDefinition) => {
  z.ZodUnion.init(variant, definition);
  variant._zod.parse = (payload, context) => definition.choose(payload.value)._zod.run(payload, context);
});

/**
 * A schema that chooses another schema for each value. Unlike `z.discriminatedUnion`, it can have a schema for values of all other
 * types, and the choice can depend on several members.
 *
 * @param shown the schemas in the OpenAPI document.
 * @param choose returns the schema that checks a value.
 */
export function variantOf<Schema extends z.ZodType>(
  shown: readonly z.ZodType[],
  choose: (value: unknown) => Schema,
): z.ZodType<z.infer<Schema>> {
  return new Variant({ type: 'union', options: shown, choose }) as unknown as z.ZodType<z.infer<Schema>>;
}

/** Returns the schema for the member `type` of a value. */
export function ofType<Schemas extends Readonly<Record<string, z.ZodType>>>(
  schemas: Schemas,
  value: unknown,
): Schemas[keyof Schemas] | undefined {
  const type = isObject(value) ? value['type'] : undefined;
  return typeof type === 'string' && Object.hasOwn(schemas, type)
    ? (schemas[type] as Schemas[keyof Schemas])
    : undefined;
}
