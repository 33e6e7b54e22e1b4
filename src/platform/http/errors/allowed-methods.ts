import type { Request } from 'express';

/** The parts of a router layer of Express that this file uses. */
interface RouterLayer {
  readonly route?: { readonly methods: Readonly<Record<string, boolean>>; readonly path: unknown };
  match(path: string): boolean;
}

/** Returns the methods, in capitals, that have a route in Express at the path of the request. Returns [] if there is none. */
export function allowedMethods(request: Request): string[] {
  const path = request.originalUrl.split('?', 1)[0] ?? '/';
  const methods = new Set<string>();
  for (const layer of layersOf(request)) {
    if (layer.route === undefined || !matches(layer, path)) continue;
    for (const method of Object.keys(layer.route.methods)) methods.add(method.toUpperCase());
  }
  if (methods.has('GET')) methods.add('HEAD');
  return [...methods];
}

/** Whether a route of the API begins with the same name as the path of the request, such as `usage` in `/api/v1/usage/unknown`. */
export function hasNeighbours(request: Request): boolean {
  const [beginning = request.originalUrl] = /^\/api\/v1\/[^/?]*/i.exec(request.originalUrl) ?? [];
  return layersOf(request).some(({ route }) => {
    const path = typeof route?.path === 'string' ? route.path.toLowerCase() : '';
    return path === beginning.toLowerCase() || path.startsWith(`${beginning.toLowerCase()}/`);
  });
}

function layersOf({ app }: Request): readonly RouterLayer[] {
  return (app.router as unknown as { readonly stack: readonly RouterLayer[] }).stack;
}

function matches(layer: RouterLayer, path: string): boolean {
  try {
    return layer.match(path);
  } catch {
    return false; // a path that cannot be decoded
  }
}
