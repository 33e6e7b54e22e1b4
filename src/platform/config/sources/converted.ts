import { z } from 'zod';

interface Texts {
  /** What the documentation says about valid values. */
  readonly accepts: string;
  /** The problem of an invalid value. */
  readonly message: string;
}

/** @param read returns `undefined` for an invalid text. */
export function converted<T>(read: (text: string) => T | undefined, { accepts, message }: Texts) {
  return z
    .string()
    .meta({ accepts })
    .transform((text, context): T => {
      const value = read(text);
      if (value !== undefined) return value;
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    });
}
