import type { NodeTracerConfig } from '@opentelemetry/sdk-trace-node';
import { VERSION } from '../../common/version.js';

type Resource = NonNullable<NodeTracerConfig['resource']>;

/**
 * Who sends the spans. The SDK's own makers of resources are in a package that it does not pass on, and read names from the
 * environment, which is read in src/config here.
 */
export function resourceOf(serviceName: string): Resource {
  const attributes = {
    'service.name': serviceName,
    'service.version': VERSION,
    'telemetry.sdk.name': 'opentelemetry',
    'telemetry.sdk.language': 'nodejs',
    'process.pid': process.pid,
  };
  const resource: Resource = {
    attributes,
    getRawAttributes: () => Object.entries(attributes),
    merge: () => resource,
  };
  return resource;
}
