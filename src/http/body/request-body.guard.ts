import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { RequestBodies } from './request-bodies.js';

/**
 * Refuses a request whose body is not acceptable. The last of the global guards: the body is read after the guards before it
 * have let the request in, so an unknown or throttled caller cannot make the process read and parse 4 MiB.
 *
 * The guard of the tier's limits needs the body and reads it earlier, see {@link RequestBodies}. This guard then only throws
 * the error that was found, so that a request with an invalid body counts against the limits.
 */
@Injectable()
export class RequestBodyGuard implements CanActivate {
  constructor(private readonly bodies: RequestBodies) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { error } = await this.bodies.read(context);
    if (error !== undefined) throw error;
    return true;
  }
}
