import { z } from 'zod';
import { accessSync, constants } from 'node:fs';

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

/**
 * The values of `sslmode`. With `require` and `verify-ca`, the driver checks the certificate and the host name, as with
 * `verify-full`, and prints a warning of several lines. So they become `verify-full` here.
 */
const SSL_MODES: Readonly<Record<string, string>> = {
  disable: 'disable',
  'no-verify': 'no-verify',
  require: 'verify-full',
  'verify-ca': 'verify-full',
  'verify-full': 'verify-full',
};
const FILES = ['sslrootcert', 'sslcert', 'sslkey'];

/**
 * Parses DATABASE_URL for PostgreSQL.
 *
 * @returns a text that says what is wrong, if the driver would not understand the URL. The driver's own messages do not name
 *   the variable.
 */
export function readPostgresUrl(text: string): URL | string {
  if (!/^postgres(?:ql)?:\/\//.test(text) || !URL.canParse(text)) return 'must be sqlite:<path> or postgres://…';
  if (!isDecodable(text)) return 'has a % that is not encoded as %25';
  const url = new URL(text);
  const { searchParams } = url;
  const unreadable = FILES.find((name) => !isReadable(searchParams.get(name)));
  if (unreadable !== undefined) return `names a file in ${unreadable} that cannot be read`;
  const mode = searchParams.get('sslmode');
  if (mode === null) return url;
  const driverMode = Object.hasOwn(SSL_MODES, mode) ? SSL_MODES[mode] : undefined;
  if (driverMode === undefined) return `has an sslmode that is not one of ${Object.keys(SSL_MODES).join(', ')}`;
  // With this parameter, the driver takes the modes as libpq does, without a warning.
  if (searchParams.get('uselibpqcompat') !== 'true') searchParams.set('sslmode', driverMode);
  return url;
}

function isDecodable(url: string): boolean {
  try {
    decodeURIComponent(url);
    return true;
  } catch {
    return false;
  }
}

function isReadable(path: string | null): boolean {
  if (path === null) return true;
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/** The attributes of OTEL_RESOURCE_ATTRIBUTES by name. */
type ResourceAttributes = Readonly<Record<string, string>>;

/**
 * Parses a list `key=value,key=value`. Values can contain percent-encoded characters. `undefined`: the list is invalid.
 *
 * @see https://opentelemetry.io/docs/specs/otel/resource/sdk/#specifying-resource-information-via-an-environment-variable
 */
export function readResourceAttributes(list: string): ResourceAttributes | undefined {
  const attributes: Record<string, string> = {};
  for (const pair of list.split(',')) {
    if (pair.trim() === '') continue;
    const [, key, value] = /^\s*([^\s=]+)\s*=(.*)$/.exec(pair) ?? [];
    if (key === undefined || value === undefined) return undefined;
    try {
      attributes[decodeURIComponent(key)] = decodeURIComponent(value.trim());
    } catch {
      return undefined;
    }
  }
  return attributes;
}
