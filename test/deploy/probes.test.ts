import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type RunningService } from '../support/service.js';
import { overlay } from './folders.js';
import { render } from './kustomization.js';
import { at } from './resource.js';

describe('the probes', () => {
  let service: RunningService;
  const { resources } = render(overlay('production'));
  const deployment = resources.find(({ kind }) => kind === 'Deployment');
  const probe = (name: string) => at(deployment, `spec/template/spec/containers/0/${name}/httpGet/path`) as string;

  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  it.each(['startupProbe', 'livenessProbe', 'readinessProbe'])('%s requests a path that returns 200', async (name) => {
    const response = await fetch(`${service.origin}${probe(name)}`);
    expect(response.status).toBe(200);
    expect(await response.json()).toHaveProperty('status');
  });

  it('check the stores for readiness only', () => {
    expect(probe('startupProbe')).toBe('/api/v1/health');
    expect(probe('livenessProbe')).toBe('/api/v1/health');
    expect(probe('readinessProbe')).toBe('/api/v1/health/ready');
  });
});
