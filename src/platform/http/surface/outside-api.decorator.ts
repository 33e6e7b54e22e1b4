import { applyDecorators, Controller } from '@nestjs/common';

/**
 * A placeholder for the prefix of the API while Nest builds paths.
 *
 * Nest can leave out its global prefix for listed paths. But a page may have the same name as a route of the API (`/usage`
 * and `/api/v1/usage`), and the list cannot tell the two apart. So the paths of all pages start with this mark.
 * {@link pathOutsideApi} removes the mark when Nest creates the route.
 */
export const OUTSIDE_API_MARK = '/outside-api';

/** The `exclude` option for `setGlobalPrefix`: excludes controllers that are {@link OutsideApi}. */
export const OUTSIDE_API_ROUTES: string[] = [OUTSIDE_API_MARK, `${OUTSIDE_API_MARK}/*path`];

/**
 * Declares a controller for pages and their files. Its paths begin at the root of the host, not at `/api/v1`.
 *
 * @since 1.0
 *
 * @example
 * ```ts
 * @OutsideApi('settings/api-keys')
 * class ApiKeysPage {
 *   @Get() show() {} // GET /settings/api-keys
 * }
 * ```
 */
export const OutsideApi = (path = ''): ClassDecorator => applyDecorators(Controller(`${OUTSIDE_API_MARK}/${path}`));

/** Returns the path at which a route is served: removes the mark of {@link OutsideApi}, if there is one. */
export function pathOutsideApi(path: string): string {
  if (path !== OUTSIDE_API_MARK && !path.startsWith(`${OUTSIDE_API_MARK}/`)) return path;
  return path.slice(OUTSIDE_API_MARK.length) || '/';
}
