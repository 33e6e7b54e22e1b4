import { Injectable, RequestMethod, type Type } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { MetadataScanner, ModulesContainer } from '@nestjs/core';
import type { Request } from 'express';
import { ConfigError } from '../../config/config-error.js';
import type { Config } from '../../config/config.js';
import { PluginsInUse } from './plugins-in-use.js';
import { OUTSIDE_API_MARK, pathOutsideApi, SURFACE, type SurfaceDescription } from './surface.decorator.js';

const API_PREFIX = '/api/v1';

interface SurfacePath {
  readonly path: string;
  readonly surface: SurfaceDescription;
}

interface Route {
  /** The name of the module of the controller. */
  readonly module: string;
  readonly controller: Type;
  readonly method: RequestMethod;
  readonly path: string;
}

/** Finds the surface of a path. Guards know the surface of a route; this class knows it if there is no route. */
@Injectable()
export class Surfaces {
  private readonly scanner = new MetadataScanner();
  private paths: readonly SurfacePath[] | undefined;

  constructor(
    private readonly modules: ModulesContainer,
    private readonly plugins: PluginsInUse,
  ) {}

  /** Removes the controllers of surfaces and of plugins that are not in use. Call this before the routes exist. */
  removeDisabled(config: Config): void {
    for (const { controllers } of this.modules.values()) {
      for (const [token, { metatype }] of controllers) {
        if (this.plugins.leavesOut(metatype as Type) || surfaceOf(metatype)?.isEnabled?.(config) === false)
          controllers.delete(token);
      }
    }
  }

  /**
   * Refuses a plugin with a route that another controller has: the router calls only the first of the two.
   *
   * @throws {ConfigError} with the class of the plugin, the method and the path of each such route.
   */
  refuseTakenRoutes(): void {
    const owners = new Map<string, Type>();
    const problems: string[] = [];
    for (const { module, controller, method, path } of this.routes()) {
      const route = `${RequestMethod[method]} ${servedPath(path)}`;
      const matched = route.replace(/:\w+/g, ':');
      const owner = owners.get(matched) ?? controller;
      owners.set(matched, owner);
      if (owner !== controller) problems.push(`${module}: ${owner.name} already has the route ${route}.`);
    }
    if (problems.length > 0) throw new ConfigError(problems);
  }

  /** Whether a controller has a route that answers `GET` for this path. */
  hasPage(path: string): boolean {
    return [...this.routes()].some(
      ({ method, path: route }) => method === RequestMethod.GET && patternOf(route).test(path.toLowerCase()),
    );
  }

  /** Returns the surface of the requested path, or of a path above it. */
  at(request: Request): SurfaceDescription | undefined {
    // The router of Express ignores the case.
    const path = requestedPath(request).toLowerCase();
    this.paths ??= this.find();
    return this.paths.find((known) => path === known.path || path.startsWith(`${known.path}/`))?.surface;
  }

  /** Returns the surface whose clients may have requested this path of the API, which does not exist. */
  ofUnknownPath(request: Request): SurfaceDescription | undefined {
    const path = requestedPath(request).toLowerCase();
    if (!path.startsWith(`${API_PREFIX}/`) || path === `${API_PREFIX}/`) return undefined;
    this.paths ??= this.find();
    return this.paths.find(({ surface }) => surface.answersUnknownPaths === true)?.surface;
  }

  private find(): readonly SurfacePath[] {
    const found = [...this.routes()].flatMap(({ controller, path }): SurfacePath[] => {
      const surface = surfaceOf(controller);
      return surface === undefined ? [] : [{ path: fixedPart(path), surface }];
    });
    // The longest path first, so that it wins over a path above it.
    return found.sort((one, other) => other.path.length - one.path.length);
  }

  /** The routes of all controllers, with the paths that the decorators have. */
  private *routes(): Generator<Route> {
    for (const { name: module, controllers } of this.modules.values()) {
      for (const { metatype: controller } of controllers.values() as Iterable<{ readonly metatype: Type }>) {
        const prototype = controller.prototype as object;
        const [base] = [Reflect.getMetadata(PATH_METADATA, controller) as string | string[]].flat();
        for (const name of this.scanner.getAllMethodNames(prototype)) {
          const handler = (prototype as Readonly<Record<string, object>>)[name];
          if (handler === undefined || !Reflect.hasMetadata(METHOD_METADATA, handler)) continue;
          const [own] = [Reflect.getMetadata(PATH_METADATA, handler) as string | string[]].flat();
          const method = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod;
          yield { module, controller, method, path: `${base ?? ''}/${own ?? ''}` };
        }
      }
    }
  }
}

/** Returns the path without the query. Express sets `originalUrl`; some routes are served before Express. */
export function requestedPath({
  originalUrl,
  url,
}: Partial<Pick<Request, 'originalUrl'>> & Pick<Request, 'url'>): string {
  return (originalUrl ?? url).split('?', 1)[0] ?? '/';
}

function surfaceOf(controller: unknown): SurfaceDescription | undefined {
  if (typeof controller !== 'function') return undefined;
  return Reflect.getMetadata(SURFACE, controller) as SurfaceDescription | undefined;
}

/** Returns the path as it is served, up to its first parameter. */
const fixedPart = (path: string): string => servedPath(path.replace(/\/[:*{].*$/s, ''));

/** Which paths a route answers. After a wildcard or an optional part, any path. */
function patternOf(path: string): RegExp {
  const [fixed = '', rest] = servedPath(path).split(/\/[*{]/, 2);
  const pattern = fixed.replace(/[.+?^$()[\]\\|]/g, '\\$&').replace(/:\w+/g, '[^/]+');
  return new RegExp(`^${pattern}${rest === undefined ? '/?' : '(/.*)?'}$`);
}

/** Returns the path as it is served. The router of Express ignores the case. */
function servedPath(path: string): string {
  const clean = `/${path}`.replace(/\/{2,}/g, '/');
  const served = clean.startsWith(OUTSIDE_API_MARK) ? pathOutsideApi(clean) : API_PREFIX + clean;
  return served.toLowerCase().replace(/\/$/, '');
}
