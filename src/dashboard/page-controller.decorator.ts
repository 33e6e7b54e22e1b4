import { applyDecorators, UseGuards, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Response } from 'express';
import { ApiExcludeController } from '../http/open-api/api-decorators.js';
import { OutsideApi } from '../http/surface/outside-api.decorator.js';
import { SECURITY_HEADERS } from './page-headers.js';

/**
 * Marks a controller that serves pages. Its routes are outside the API and are not part of the OpenAPI document. Each route
 * is `@SessionOnly()` or `@Public()`, and answers with `Pages.send`. Every answer has the security headers of a page, also if
 * the route sends HTML of its own.
 *
 * @experimental
 * @since 1.0
 */
export const PageController = (path = ''): ClassDecorator =>
  applyDecorators(OutsideApi(path.replace(/^\//, '')), ApiExcludeController(), UseGuards(PageHeadersGuard));

/** Sets the headers of a page before the route runs. It refuses nothing. */
class PageHeadersGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    context.switchToHttp().getResponse<Response>().set(SECURITY_HEADERS);
    return true;
  }
}
