import type { Request } from 'express';
import { TLSSocket } from 'node:tls';
import type { Config } from '../../platform/config/config.js';

/** Whether the client uses HTTPS, as far as this service can see. */
export function isSecure(request: Request): boolean {
  return request.socket instanceof TLSSocket || forwarded(request, 'x-forwarded-proto')?.toLowerCase() === 'https';
}

/** The host name, with the port if there is one, by which the client reaches the service. */
export function hostOf(request: Request): string {
  return forwarded(request, 'x-forwarded-host') ?? request.headers.host ?? '';
}

/** Scheme and host by which the client reaches the service. */
export function publicOriginOf(request: Request): string {
  return `${isSecure(request) ? 'https' : 'http'}://${hostOf(request)}`;
}

/** The origin of links that people send to others: `PUBLIC_URL`, or the origin by which the client reaches the service. */
export function linkOrigin({ publicUrl }: Pick<Config, 'publicUrl'>, request: Request): string {
  return publicUrl ?? publicOriginOf(request);
}

/**
 * Whether the request came through the proxies of `TRUST_PROXY`, so that a strategy may believe a header that a proxy sets, such as
 * the name in a client certificate.
 *
 * The service counts proxies, and does not know their addresses. So the network must let only the proxy reach the service, and the
 * proxy must remove the header from the requests of clients.
 *
 * @since 1.0
 */
export function isFromTrustedProxy({ app, headers }: Request): boolean {
  const proxies = app.get('trust proxy') as number;
  return (
    proxies > 0 && String(headers['x-forwarded-for'] ?? '').split(',').length >= proxies && 'x-forwarded-for' in headers
  );
}

/**
 * Returns the value that the outermost trusted proxy has written. With `TRUST_PROXY` n, this is the nth value from the
 * right, as for the client's address. Values further left come from the client. When a proxy replaces the header, there
 * may be fewer values than proxies. Then this is the first value.
 */
function forwarded({ app, headers }: Request, name: 'x-forwarded-proto' | 'x-forwarded-host'): string | undefined {
  const proxies = app.get('trust proxy') as number;
  if (proxies === 0) return undefined;
  const values = String(headers[name] ?? '')
    .split(',')
    .map((value) => value.trim())
    .filter((value) => value !== '');
  return values[Math.max(0, values.length - proxies)];
}
