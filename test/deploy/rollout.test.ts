import { describe, expect, it } from 'vitest';
import { overlay } from './folders.js';
import { render } from './kustomization.js';
import { at, type Resource } from './resource.js';

describe('a rollout', () => {
  const { resources } = render(overlay('production'));
  const deployment = resources.find(({ kind }) => kind === 'Deployment') as Resource;
  const autoscaler = resources.find(({ kind }) => kind === 'HorizontalPodAutoscaler') as Resource;

  it('never has fewer replicas than before, and leaves their number to the autoscaler', () => {
    expect(at(deployment, 'spec/strategy')).toEqual({
      type: 'RollingUpdate',
      rollingUpdate: { maxUnavailable: 0, maxSurge: 1 },
    });
    expect(at(deployment, 'spec/replicas')).toBeUndefined();
  });

  it('follows a change of the configuration, too', () => {
    // Generated ones have a hash in their names; a plain ConfigMap would change under the running replicas unseen.
    const { files } = render(overlay('production'));
    expect(files.filter((file) => /(config-?map|secret)[^/]*\.yaml$/.test(file))).toEqual([]);
  });

  it('of nodes is not blocked by the disruption budget', () => {
    const budget = resources.find(({ kind }) => kind === 'PodDisruptionBudget') as Resource;
    expect(at(budget, 'spec/minAvailable')).toBeUndefined();
    expect(at(budget, 'spec/maxUnavailable')).toBeGreaterThanOrEqual(1);
    expect(at(budget, 'spec/unhealthyPodEvictionPolicy')).toBe('AlwaysAllow');
    expect(at(autoscaler, 'spec/minReplicas')).toBeGreaterThan(1);
  });

  it('down of the autoscaler is slower than a replica that finishes its streams', () => {
    const grace = at(deployment, 'spec/template/spec/terminationGracePeriodSeconds') as number;
    expect(at(autoscaler, 'spec/behavior/scaleDown/stabilizationWindowSeconds')).toBeGreaterThanOrEqual(grace);
    expect(at(autoscaler, 'spec/behavior/scaleUp/stabilizationWindowSeconds')).toBe(0);
  });

  it('of one replica on a volume of its own ends the old one first', () => {
    const single = render(overlay('single')).resources.find(({ kind }) => kind === 'Deployment');
    expect(at(single, 'spec/strategy')).toEqual({ type: 'Recreate' });
    expect(at(single, 'spec/replicas')).toBe(1);
  });
});
