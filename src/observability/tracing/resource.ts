import type { NodeTracerConfig } from '@opentelemetry/sdk-trace-node';
import type { TracingConfig } from '../../config/config.js';
import { VERSION } from '../../common/version.js';

type Resource = NonNullable<NodeTracerConfig['resource']>;

/**
 * Returns the description of this service for spans. The functions of the SDK are not used for two reasons: their package
 * is not re-exported by the SDK, and they read names from environment variables. In this service only src/config reads the
 * environment.
 */
export function resourceOf({ serviceName, resourceAttributes }: TracingConfig): Resource {
  const attributes = {
    'service.version': VERSION,
    ...resourceAttributes,
    'service.name': serviceName,
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
