import type { Request, Response } from 'express';

/** Is notified of each request that is refused because of its body. The class is the injection token. */
export abstract class RefusedBodies {
  /**
   * Counts the request, so that requests with an invalid body are limited, too.
   *
   * @throws {ServiceError} when a limit refuses the request. The client then gets this error.
   */
  abstract countRefused(request: Request, response: Response): Promise<void>;
}
