import { dirname, join } from 'node:path';

export const ROOT = dirname(dirname(import.meta.dirname));
export const KUBERNETES = join(ROOT, 'deploy', 'kubernetes');
export const BASE = join(KUBERNETES, 'base');
export const POD_MONITOR = join(KUBERNETES, 'components', 'pod-monitor');
export const OVERLAYS = ['production', 'single'] as const;

export function overlay(name: (typeof OVERLAYS)[number]): string {
  return join(KUBERNETES, 'overlays', name);
}
