import type { NestExpressApplication } from '@nestjs/platform-express';
import type { AddressInfo } from 'node:net';

/** The URL of the address and port on which the application really listens, such as `http://0.0.0.0:3000`. */
export function listeningAddress(app: NestExpressApplication): string {
  const { address, family, port } = app.getHttpServer().address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

/** Whether only programs on this machine can reach the address. */
export function isLoopback(url: string): boolean {
  return /^http:\/\/(?:127\.|\[::1\])/.test(url);
}

/** Replaces an address of this machine, and the address for all networks, with `localhost`. */
export function onThisMachine(url: string): string {
  return url.replace(/\/\/(?:127\.0\.0\.1|0\.0\.0\.0|\[::1?\])(?=:|$)/, '//localhost');
}
