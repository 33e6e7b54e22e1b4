import { accessSync, constants } from 'node:fs';

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
