import { applyDecorators, Controller } from '@nestjs/common';

/**
 * Stands in the place of the API's prefix while Nest puts paths together. Nest leaves its global prefix away for paths
 * that it is told, but a page may have the name of a route of the API (`/usage`, `/api/v1/usage`), so that all pages
 * get this first, which {@link pathOutsideApi} takes away again when the route is made.
 */
const MARK = '/outside-api';

/** For `setGlobalPrefix`: leaves its prefix away for controllers that are {@link OutsideApi}. */
export const OUTSIDE_API_ROUTES: string[] = [MARK, `${MARK}/*path`];

/**
 * A controller whose paths begin at the root of the host, not at `/api/v1`: pages and their files.
 *
 * @example
 * ```ts
 * @OutsideApi('settings/api-keys')
 * class ApiKeysPage {
 *   @Get() show() {} // GET /settings/api-keys
 * }
 * ```
 */
export const OutsideApi = (path = ''): ClassDecorator => applyDecorators(Controller(`${MARK}/${path}`));

/** The path under which a route is served. */
export function pathOutsideApi(path: string): string {
  if (path !== MARK && !path.startsWith(`${MARK}/`)) return path;
  return path.slice(MARK.length) || '/';
}
