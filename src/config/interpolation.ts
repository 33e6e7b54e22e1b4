/** The environment, or a part of it. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** What a template became: its text, or the variables that it lacks. */
export interface Interpolated {
  readonly text: string;
  readonly missing: readonly string[];
}

const PLACEHOLDER = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/**
 * Replaces `${NAME}` and `${NAME:-default}` by the environment's values. An empty value counts as unset.
 *
 * @example interpolate('${HOST:-localhost}:${PORT}', { PORT: '80' }) // { text: 'localhost:80', missing: [] }
 */
export function interpolate(template: string, variables: Variables): Interpolated {
  const missing: string[] = [];
  const text = template.replace(PLACEHOLDER, (_, name: string, fallback: string | undefined) => {
    const value = variables[name] || fallback;
    if (value === undefined) missing.push(name);
    return value ?? '';
  });
  return { text, missing };
}
