import {
  exactNumberText,
  isExactNumber,
  jsonSource,
  parseExactNumbers,
  rawJson,
  stringifyExactNumbers,
} from '../../../platform/common/json/json-source.js';
import { isJsonObject, type JsonObject } from '../shared/json-object.js';

/** Bounds of a value, because a schema can refer to itself. */
const MAX_DEPTH = 64;
const MAX_VALUES = 1_000;
/** From this depth on, a value is as small as its schema allows, so that a schema that refers to itself comes to an end. */
const SMALL_FROM_DEPTH = 8;

const TEXTS: Readonly<Partial<Record<string, string>>> = {
  'date-time': '2026-01-01T12:00:00Z',
  date: '2026-01-01',
  time: '12:00:00Z',
  duration: 'PT1H',
  email: 'someone@example.com',
  hostname: 'example.com',
  uri: 'https://example.com/',
  url: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
};

/**
 * Returns the JSON text of a value that fits a JSON Schema, with the numbers of the schema as they were sent: for an object each required property; otherwise the constant, the first value of the
 * enum, the default, or a value of the type.
 */
export function schemaJson(schema: JsonObject): string {
  const exact = parseExactNumbers(jsonSource(schema)) as JsonObject;
  return stringifyExactNumbers(new SchemaValue(exact).of(exact, 0));
}

class SchemaValue {
  private count = 0;

  constructor(private readonly root: JsonObject) {}

  of(given: unknown, depth: number): unknown {
    this.count += 1;
    if (!isJsonObject(given) || depth > MAX_DEPTH || this.count > MAX_VALUES) return null;
    if ('const' in given) return given.const;
    if (Array.isArray(given.enum)) return given.enum[0] ?? null;
    if ('default' in given) return given.default;
    if (typeof given.$ref === 'string') return this.of(this.referred(given.$ref), depth + 1);
    for (const alternatives of [given.anyOf, given.oneOf]) {
      if (Array.isArray(alternatives)) return this.of(alternativeOf(alternatives, depth), depth + 1);
    }
    if (Array.isArray(given.allOf)) return this.ofAll(given, given.allOf, depth);
    return this.ofType(typeOf(given), given, depth);
  }

  private ofType(type: string, schema: JsonObject, depth: number): unknown {
    switch (type) {
      case 'object':
        return this.object(schema, depth);
      case 'array':
        return this.array(schema, depth);
      case 'string':
        return textOf(schema);
      case 'integer':
      case 'number':
        return numberOf(schema);
      case 'boolean':
        return true;
      default:
        return null;
    }
  }

  private object({ properties, required }: JsonObject, depth: number): unknown {
    const schemas = isJsonObject(properties) ? properties : {};
    const names = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
    return Object.fromEntries(names.map((name) => [name, this.of(schemas[name] ?? { type: 'string' }, depth + 1)]));
  }

  private array({ items, prefixItems, minItems }: JsonObject, depth: number): unknown {
    if (Array.isArray(prefixItems)) return prefixItems.map((item) => this.of(item, depth + 1));
    if (items === undefined) return [];
    const least = depth < SMALL_FROM_DEPTH ? 1 : 0;
    const length = Math.min(MAX_VALUES, Math.max(least, Math.ceil(numberFrom(minItems) ?? least)));
    return Array.from({ length }, () => this.of(items, depth + 1));
  }

  private ofAll(schema: JsonObject, parts: readonly unknown[], depth: number): unknown {
    const values = [...parts, { ...schema, allOf: undefined }].map((part) => this.of(part, depth + 1));
    return values.every(isJsonObject) ? Object.assign({}, ...values) : values[0];
  }

  /** Finds a schema by a path such as `#/$defs/city`. */
  private referred(path: string): unknown {
    const steps = path
      .replace(/^#\/?/, '')
      .split('/')
      .filter(Boolean)
      .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
    return steps.reduce<unknown>((inner, step) => (isJsonObject(inner) ? inner[step] : undefined), this.root);
  }
}

function alternativeOf(alternatives: readonly unknown[], depth: number): unknown {
  const first: unknown = alternatives[0];
  if (depth < SMALL_FROM_DEPTH) return first;
  return (
    alternatives.find((schema) => isJsonObject(schema) && !('$ref' in schema) && isScalar(typeOf(schema))) ?? first
  );
}

function isScalar(type: string): boolean {
  return type !== 'object' && type !== 'array';
}

function typeOf({ type, properties, items }: JsonObject): string {
  const first: unknown = Array.isArray(type) ? type.find((one) => one !== 'null') : type;
  if (typeof first === 'string') return first;
  if (items !== undefined) return 'array';
  return properties === undefined && type === undefined ? 'string' : 'object';
}

function textOf({ format, minLength, maxLength }: JsonObject): string {
  const text = (typeof format === 'string' ? TEXTS[format] : undefined) ?? 'text';
  const least = Math.min(numberFrom(minLength) ?? 0, MAX_VALUES);
  return text.padEnd(least, 'x').slice(0, numberFrom(maxLength) ?? Infinity);
}

function numberOf({ minimum, exclusiveMinimum, maximum, exclusiveMaximum, multipleOf }: JsonObject): unknown {
  if (isExactNumber(minimum)) return minimum;
  const exact =
    beyondInteger(exclusiveMinimum, 1n) ??
    integerFrom(multipleOf) ??
    negative(integerFrom(maximum)) ??
    negative(beyondInteger(exclusiveMaximum, -1n));
  if (exact !== undefined) return rawJson(String(exact));
  const step = numberFrom(multipleOf) ?? 1;
  const above = numberFrom(exclusiveMinimum);
  const below = numberFrom(exclusiveMaximum);
  const least = numberFrom(minimum) ?? (above === undefined ? undefined : above + step);
  const most = numberFrom(maximum) ?? (below === undefined ? undefined : below - step);
  const wanted = Math.max(Math.min(step, most ?? step), least ?? -Infinity);
  return Math.min(Math.ceil(wanted / step) * step, most ?? Infinity);
}

function numberFrom(value: unknown): number | undefined {
  if (isExactNumber(value)) return Number(exactNumberText(value));
  return typeof value === 'number' ? value : undefined;
}

/** Returns an integer that a number of JavaScript cannot hold. */
function integerFrom(value: unknown): bigint | undefined {
  const text = isExactNumber(value) ? exactNumberText(value) : '';
  return /^-?\d+$/.test(text) && !Number.isSafeInteger(Number(text)) ? BigInt(text) : undefined;
}

function beyondInteger(value: unknown, step: bigint): bigint | undefined {
  const integer = integerFrom(value);
  return integer === undefined ? undefined : integer + step;
}

/** Large numbers below a bound are not needed. */
function negative(integer: bigint | undefined): bigint | undefined {
  return integer !== undefined && integer < 0n ? integer : undefined;
}
