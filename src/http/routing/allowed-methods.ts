import type { Request } from 'express';

/** As much as Express shows of a layer of its router. */
interface RouterLayer {
  readonly route?: { readonly methods: Readonly<Record<string, boolean>> };
  match(path: string): boolean;
}

/** The methods, in capitals, for which Express has a route at the path of the request; [] when there is none. */
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
