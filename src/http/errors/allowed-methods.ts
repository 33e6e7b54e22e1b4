import type { Request } from 'express';

/** The parts of a router layer of Express that this file uses. */
interface RouterLayer {
  readonly route?: { readonly methods: Readonly<Record<string, boolean>> };
  match(path: string): boolean;
}

/** Returns the methods, in capitals, that have a route in Express at the path of the request. Returns [] if there is none. */
export function allowedMethods(request: Request): string[] {
  const layers = (request.app.router as unknown as { readonly stack: readonly RouterLayer[] }).stack;
  const path = request.originalUrl.split('?', 1)[0] ?? '/';
  const methods = new Set<string>();
  for (const layer of layers) {
    if (layer.route === undefined || !matches(layer, path)) continue;
    for (const method of Object.keys(layer.route.methods)) methods.add(method.toUpperCase());
  }
  if (methods.has('GET')) methods.add('HEAD');
  return [...methods];
}

function matches(layer: RouterLayer, path: string): boolean {
  try {
    return layer.match(path);
  } catch {
    return false; // a path that cannot be decoded
  }
}
