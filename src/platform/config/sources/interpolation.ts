/** The environment, or a part of it. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** The result of an interpolated template. */
interface Interpolated {
  readonly text: string;
  readonly missing: readonly string[];
}

const PLACEHOLDER = /\$\{([a-z_]\w*)(?::-([^{}]*))?\}/gi;

/** A variable in a template. */
export interface Placeholder {
  readonly name: string;
  /** The value while the variable is unset. `undefined` means that there is no fallback. */
  readonly fallback: string | undefined;
}

/** Returns the variables of a template, in the order of the template. */
export function placeholdersOf(template: string): Placeholder[] {
  return [...template.matchAll(PLACEHOLDER)].map(([, name = '', fallback]) => ({ name, fallback }));
}

/**
 * Replaces `${NAME}` and `${NAME:-default}` with the values of the environment. An empty value counts as unset.
 *
 * @returns the text, and the names of the variables that have no value and no default.
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

/** Replaces the variables in all texts of a value. See {@link interpolate}. The names of members stay as they are. */
export function interpolateAll(value: unknown, variables: Variables): { value: unknown; missing: readonly string[] } {
  const missing: string[] = [];
  const fill = (part: unknown): unknown => {
    if (typeof part === 'string') {
      const filled = interpolate(part, variables);
      missing.push(...filled.missing);
      return filled.text;
    }
    if (Array.isArray(part)) return part.map(fill);
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([name, member]) => [name, fill(member)]));
  };
  return { value: fill(value), missing };
}
