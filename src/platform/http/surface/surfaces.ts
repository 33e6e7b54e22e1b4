import { Injectable } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { MetadataScanner, ModulesContainer } from '@nestjs/core';
import type { Request } from 'express';
import type { Config } from '../../config/config.js';
import { isPartLeftOut } from './part-of.decorator.js';
import { PluginsInUse } from './plugins-in-use.js';
import { OUTSIDE_API_MARK, pathOutsideApi } from './outside-api.decorator.js';
import { SURFACE, type SurfaceDescription } from './surface.decorator.js';

const API_PREFIX = '/api/v1';

interface SurfacePath {
  readonly path: string;
  readonly surface: SurfaceDescription;
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
    for (const { metatype: module, controllers } of this.modules.values()) {
      for (const [token, { metatype }] of controllers) {
        const isLeftOut = [module, metatype].some(
          (type) => typeof type === 'function' && isPartLeftOut(type, this.plugins),
        );
        if (isLeftOut || surfaceOf(metatype)?.isEnabled?.(config) === false) controllers.delete(token);
      }
    }
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
    const found: SurfacePath[] = [];
    for (const { controllers } of this.modules.values()) {
      for (const { metatype } of controllers.values()) {
        const surface = surfaceOf(metatype);
        if (surface === undefined || typeof metatype !== 'function') continue;
        for (const path of this.pathsOf(metatype)) found.push({ path, surface });
      }
    }
    // The longest path first, so that it wins over a path above it.
    return found.sort((one, other) => other.path.length - one.path.length);
  }

  private pathsOf(controller: NewableFunction): string[] {
    const prototype = controller.prototype as object;
    const [base] = [Reflect.getMetadata(PATH_METADATA, controller) as string | string[]].flat();
    return this.scanner.getAllMethodNames(prototype).flatMap((name) => {
      const handler = (prototype as Readonly<Record<string, object>>)[name];
      if (handler === undefined || !Reflect.hasMetadata(METHOD_METADATA, handler)) return [];
      const [own] = [Reflect.getMetadata(PATH_METADATA, handler) as string | string[]].flat();
      return [fixedPart(`${base ?? ''}/${own ?? ''}`)];
    });
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
function fixedPart(path: string): string {
  const clean = `/${path}`.replace(/\/[:*{].*$/s, '').replace(/\/{2,}/g, '/');
  const served = clean.startsWith(OUTSIDE_API_MARK) ? pathOutsideApi(clean) : API_PREFIX + clean;
  return served.toLowerCase().replace(/\/$/, '');
}
