import type { z } from 'zod';

/** Returns one line per problem, with the path and the reason. The lines never contain the invalid value. */
export function problemsOf(error: z.ZodError, where: string[] = []): string[] {
  return error.issues.map((issue) => {
    const path = [...where, ...issue.path.map(String)].join('.');
    return `${path || 'the file'}: ${issue.message}`;
  });
}
