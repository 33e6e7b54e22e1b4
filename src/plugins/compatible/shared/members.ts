import { invalidRequest } from '../../../plugin-api/core/http.js';

type Json = Readonly<Record<string, unknown>>;

/** The members that the service cannot honour, with the message about them. */
export type Refusals = Readonly<Record<string, Refusal>>;

interface Refusal {
  /** Whether the value changes nothing. By default, no value does. */
  readonly unless?: (value: unknown) => boolean;
  readonly message?: string;
}

/** Reads the members of an object from a client one by one. `null` counts as a missing member. */
export class Members {
  private readonly taken = new Set<string>();
  private readonly inners = new Map<string, Members>();

  /** @param path the path of the object in the body, such as `messages.0`. Empty for the body itself. */
  constructor(
    private readonly object: Json,
    readonly path = '',
  ) {}

  /** @throws {ServiceError} if the value is not an object. */
  static of(value: unknown, path: string): Members {
    if (!isObject(value)) throw refused(path, 'must be an object');
    return new Members(value, path);
  }

  /** Returns the path of a member in the body. */
  at(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`;
  }

  any(name: string): unknown {
    this.taken.add(name);
    return this.object[name] ?? undefined;
  }

  text(name: string): string | undefined {
    return this.typed(name, (value) => typeof value === 'string', 'a string') as string | undefined;
  }

  number(name: string): number | undefined {
    return this.typed(name, (value) => typeof value === 'number', 'a number') as number | undefined;
  }

  boolean(name: string): boolean | undefined {
    return this.typed(name, (value) => typeof value === 'boolean', 'true or false') as boolean | undefined;
  }

  array(name: string): readonly unknown[] | undefined {
    return this.typed(name, Array.isArray, 'an array') as readonly unknown[] | undefined;
  }

  json(name: string): Json | undefined {
    return this.typed(name, isObject, 'an object') as Json | undefined;
  }

  /** Returns the members of an inner object: the same for each call. */
  inner(name: string): Members | undefined {
    const object = this.json(name);
    const known = this.inners.get(name);
    if (object === undefined || known !== undefined) return known;
    const members = new Members(object, this.at(name));
    this.inners.set(name, members);
    return members;
  }

  /** Returns the objects of an array. */
  objects(name: string): readonly Members[] | undefined {
    return this.array(name)?.map((value, index) => Members.of(value, this.at(`${name}.${index}`)));
  }

  oneOf<Value extends string>(name: string, values: readonly Value[]): Value | undefined {
    const value = this.any(name);
    if (value === undefined || values.includes(value as Value)) return value as Value | undefined;
    throw this.refused(name, `must be one of ${values.join(', ')}`);
  }

  /** @throws {ServiceError} if the member is missing, or no string. */
  requiredText(name: string): string {
    return this.required(name, this.text(name));
  }

  /** @throws {ServiceError} if the member is missing. */
  required<Value>(name: string, value: Value | undefined): Value {
    if (value === undefined) throw this.refused(name, 'is required');
    return value;
  }

  /** @throws {ServiceError} for a member that would change the answer, and that the service cannot honour. */
  refuseUnsupported(refusals: Refusals): void {
    for (const [name, { unless, message = 'is not supported' }] of Object.entries(refusals)) {
      const value = this.any(name);
      if (value !== undefined && unless?.(value) !== true) throw this.refused(name, message);
    }
  }

  /** Returns the error for an invalid member. */
  refused(name: string, message: string): Error {
    return refused(this.at(name), message);
  }

  /** Returns the names of the members that were not read, and are not `null`: also those of the inner objects that were read. */
  rest(): string[] {
    const own = Object.keys(this.object).filter((name) => !this.taken.has(name) && this.object[name] !== null);
    const ofInner = [...this.inners].flatMap(([name, members]) => members.rest().map((member) => `${name}.${member}`));
    return [...own, ...ofInner];
  }

  private typed(name: string, isValid: (value: unknown) => boolean, what: string): unknown {
    const value = this.any(name);
    if (value === undefined || isValid(value)) return value;
    throw this.refused(name, `must be ${what}`);
  }
}

/** Returns a test for this value. */
export const is = (usual: unknown) => (value: unknown) => value === usual;

/** Returns the error for an invalid value at this path of the body. */
export function refused(path: string, message: string): Error {
  return invalidRequest([{ field: path, message }]);
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
