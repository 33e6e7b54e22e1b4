import type { z } from 'zod';

/** One line a problem: where it is and what is wrong, never the value that was found. */
export function problemsOf(error: z.ZodError, where: string[] = []): string[] {
  return error.issues.map((issue) => {
    const path = [...where, ...issue.path.map(String)].join('.');
    return `${path || 'the file'}: ${issue.message}`;
  });
}
