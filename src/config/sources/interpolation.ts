/** The environment, or a part of it. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** What a template became: its text, or the variables that it lacks. */
export interface Interpolated {
  readonly text: string;
  readonly missing: readonly string[];
}

const PLACEHOLDER = /\$\{([a-z_]\w*)(?::-([^{}]*))?\}/gi;

/** A variable that a template names. */
export interface Placeholder {
  readonly name: string;
  /** What stands there while the variable is unset; `undefined`: nothing can. */
  readonly fallback: string | undefined;
}

/** Returns the variables of a template, in their order. */
export function placeholdersOf(template: string): Placeholder[] {
  return [...template.matchAll(PLACEHOLDER)].map(([, name = '', fallback]) => ({ name, fallback }));
}

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
