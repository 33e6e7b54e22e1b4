import { z } from 'zod';
import { TOOL_NAME } from '../../../plugin-api/core/chat.js';
import { isObject } from '../../../plugin-api/core/common.js';
import type { ImageContent, ReasoningOptions } from '../../../plugin-api/core/upstreams.js';

// The schemas of members that several APIs have. They check the types, and `meta` shows the limits in the OpenAPI document: the service
// checks the limits with the whole conversation.

/** Whether a value is an object with this member. `null` counts as a missing member. */
export function has(value: unknown, name: string): boolean {
  return isObject(value) && (value[name] ?? undefined) !== undefined;
}

/** An object whose members the service passes on and does not interpret, such as a JSON Schema. */
export const schemaObject = z
  .custom<Readonly<Record<string, unknown>>>(isObject, { error: 'must be an object' })
  // For the OpenAPI document: JSON Schema cannot express a function.
  .meta({ type: 'object' });

/**
 * A member that would change the meaning of a request, and that the service cannot honour. It may be missing or `null`.
 *
 * @param message says what is possible, such as `must be 1`.
 * @param isUsual whether a value changes nothing. By default, no value does.
 */
export const refusedMember = (message: string, isUsual: (value: unknown) => boolean = () => false) =>
  z
    .custom<unknown>((value) => value === undefined || value === null || isUsual(value), { error: message })
    .optional()
    .describe(`This member ${message}.`);

/** The error of a discriminated union, for a value that is not in the union. */
export const unionError = (discriminator: string, message: string) => ({
  error: ({ input }: { readonly input?: unknown }) => (has(input, discriminator) ? message : 'is required'),
});

/** Refuses each value with this message. */
export const refusal = (error: string) => z.custom<never>(() => false, { error });

/**
 * Refuses each value because of its type.
 *
 * @param message the message, or returns the message for the type that was sent.
 */
export const refusedType = (message: string | ((type: unknown) => string)) =>
  z.object({
    type: z.custom(() => false, { error: ({ input }) => (typeof message === 'string' ? message : message(input)) }),
  }) as z.ZodType as z.ZodType<never>;

/** Returns a test for this value. */
export const is = (usual: unknown) => (value: unknown) => value === usual;

export function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

const number = (minimum: number, maximum: number) => z.number().meta({ minimum, maximum });

export const MODEL = z
  .string()
  .meta({ minLength: 1 })
  .describe('The id of a model, or an alias. `GET models` lists the ids.');
export const text = z.string().nullish();
export const flag = z.boolean().nullish();
export const temperature = number(0, 2)
  .nullish()
  .describe('The sampling temperature. The default is 0.7. With `top_p`, there is no default.');
export const topP = number(0, 1).nullish().describe('The probability mass of the tokens to sample from.');
export const penalty = (of: string) => number(-2, 2).nullish().describe(`Penalizes ${of}.`);
export const tokenLimit = z.number().meta({ type: 'integer', minimum: 1 }).nullish();
export const isStream = flag.describe('Whether the answer is a stream of server-sent events.');
export const isParallel = flag.describe('Whether an answer may have several tool calls.');

const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export const Effort = z.enum(EFFORTS);
export const effort = Effort.nullish();

/** `max` has the effect of `xhigh`. */
export function effortOf(sent: z.infer<typeof effort>): ReasoningOptions['effort'] {
  return sent === 'max' ? 'xhigh' : (sent ?? undefined);
}

export const imageUrl = z.string().describe('A data URL, or an https URL.');
export const imageDetail = z.enum(['auto', 'low', 'high', 'original']).nullish();

/** `original` has the effect of `high`. */
export function detailOf(sent: z.infer<typeof imageDetail>): Pick<ImageContent, 'detail'> {
  return sent ? { detail: sent === 'original' ? 'high' : sent } : {};
}

export const callId = z.string().meta({ minLength: 1 });
export const toolName = z.string().meta({ pattern: TOOL_NAME.source });
