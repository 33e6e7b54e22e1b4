import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Config } from '../../src/platform/config/config.js';
import { loadConfig } from '../../src/platform/config/load-config.js';
import { readEnvironment } from '../../src/platform/config/sources/environment.js';
import { OVERLAYS, overlay, POD_MONITOR } from './folders.js';
import { render } from './kustomization.js';
import { at, type Resource, type Tree } from './resource.js';

/** Why a replica may take longer to end than the streams: the last events for readers that read nothing, and closing. */
const AFTER_GRACE_SECONDS = 2 + 2;
const VALUES_OF_SECRETS: Readonly<Record<string, string>> = {
  DATABASE_URL: 'postgres://chat:a-password@postgres.example.com/chat',
  REDIS_URL: 'rediss://:a-password@redis.example.com:6379',
};
/** The optional secrets that are addresses. */
const ADDRESSES: Readonly<Record<string, string>> = {
  PUBLIC_URL: 'https://chat.example.com',
  OIDC_ISSUER: 'https://id.example.com',
};

describe.each(OVERLAYS)('the overlay %s', (name) => {
  const { resources } = render(overlay(name));
  const find = (kind: string, named = 'chat-streaming') =>
    resources.find((resource) => resource.kind === kind && resource.metadata.name === named);
  const deployment = find('Deployment') as Resource;
  const pod = at(deployment, 'spec/template/spec') as Tree;
  const [container = {}, ...others] = pod['containers'] as Tree[];
  const labels = at(deployment, 'spec/template/metadata/labels');
  const environment = at(find('ConfigMap', 'chat-streaming-environment'), 'data') as Record<string, string>;
  const secrets = at(find('Secret', 'chat-streaming-secrets'), 'stringData') as Record<string, string>;
  const ports = container['ports'] as { name: string; containerPort: number }[];
  const port = (portName: unknown) => ports.find((candidate) => candidate.name === portName)?.containerPort;

  it('selects its own replicas everywhere', () => {
    const selectors = [
      at(deployment, 'spec/selector/matchLabels'),
      at(find('Service'), 'spec/selector'),
      at(find('NetworkPolicy'), 'spec/podSelector/matchLabels'),
      ...(at(pod, 'topologySpreadConstraints') as Tree[]).map((each) => at(each, 'labelSelector/matchLabels')),
      at(render(POD_MONITOR).resources[0], 'spec/selector/matchLabels'),
      ...(name === 'single' ? [] : [at(find('PodDisruptionBudget'), 'spec/selector/matchLabels')]),
    ];
    for (const selector of selectors) expect(selector).toEqual(labels);
  });

  it('names only ports, resources and volumes that are there', () => {
    const named = [
      at(find('Service'), 'spec/ports/0/targetPort'),
      at(find('NetworkPolicy'), 'spec/ingress/0/ports/0/port'),
      at(find('NetworkPolicy'), 'spec/ingress/1/ports/0/port'),
      at(render(POD_MONITOR).resources[0], 'spec/podMetricsEndpoints/0/port'),
      ...['startupProbe', 'livenessProbe', 'readinessProbe'].map((probe) => at(container, `${probe}/httpGet/port`)),
    ];
    for (const portName of named) expect(port(portName), String(portName)).toBeDefined();

    const backend = at(find('Ingress'), 'spec/rules/0/http/paths/0/backend/service') as Tree;
    expect(find('Service', String(backend['name']))).toBeDefined();
    expect(at(backend, 'port/name')).toBe(at(find('Service'), 'spec/ports/0/name'));
    expect(find('ServiceAccount', String(pod['serviceAccountName']))).toBeDefined();
    expect((at(find('Ingress'), 'spec/tls') as Tree[]).flatMap((tls) => tls['hosts'])).toEqual(
      (at(find('Ingress'), 'spec/rules') as Tree[]).map((rule) => rule['host']),
    );
    const autoscaler = find('HorizontalPodAutoscaler');
    if (autoscaler !== undefined) {
      expect(find('Deployment', String(at(autoscaler, 'spec/scaleTargetRef/name')))).toBe(deployment);
      expect(at(autoscaler, 'spec/metrics/0/containerResource/container')).toBe(container['name']);
    }

    const volumes = pod['volumes'] as Tree[];
    const mounts = container['volumeMounts'] as Tree[];
    expect(mounts.map((mount) => mount['name']).sort()).toEqual(volumes.map((volume) => volume['name']).sort());
    for (const volume of volumes) {
      const claim = at(volume, 'persistentVolumeClaim/claimName') as string | undefined;
      if (claim !== undefined) expect(find('PersistentVolumeClaim', claim)).toBeDefined();
      const config = at(volume, 'configMap/name') as string | undefined;
      if (config !== undefined) expect(find('ConfigMap', config)).toBeDefined();
    }
  });

  it('listens where the ports say, on all addresses', () => {
    expect(environment).toMatchObject({
      HOST: '0.0.0.0',
      PORT: String(port('http')),
      METRICS_PORT: String(port('metrics')),
    });
  });

  it('reads every secret from the example by name, which holds no value', () => {
    const asked = ((container['env'] ?? []) as Tree[]).map((variable) => {
      expect(at(variable, 'valueFrom/secretKeyRef/name')).toBe('chat-streaming-secrets');
      expect(at(variable, 'valueFrom/secretKeyRef/key')).toBe(variable['name']);
      return String(variable['name']);
    });
    expect(asked).toEqual(name === 'single' ? [] : ['DATABASE_URL', 'REDIS_URL']);
    expect(Object.keys(secrets)).toEqual(expect.arrayContaining(asked));
    expect(Object.values(secrets).join('')).toBe('');
  });

  it('sets only variables and a CONFIG_FILE that the service accepts', () => {
    const config = loadWith({ ...environment, ...secretValues() });

    const known = readEnvironment({ ...environment, ...secretValues() }).environment ?? {};
    expect(Object.keys(known)).toEqual(expect.arrayContaining(Object.keys(environment)));
    expect(config).toMatchObject({
      host: '0.0.0.0',
      metricsPort: 9464,
      trustedProxies: 1,
      signUp: 'closed',
      database: { type: name === 'single' ? 'sqlite' : 'postgres' },
    });
    // With every provider's key each upstream is configured: the example names all the variables of the file.
    const file = render(overlay(name)).resources.find(({ metadata }) => metadata.name === 'chat-streaming-config');
    const text = at(file, 'data/config.yaml') as string;
    const upstreams = [...text.matchAll(/^ {2}([\w-]+):\n {4}protocol:/gm)].map(([, upstream]) => upstream);
    expect([...config.upstreams.keys()]).toEqual(upstreams);
    expect(upstreams.length).toBeGreaterThan(1);
  });

  it('serves the stand-in alone without a key of a provider', () => {
    const config = loadWith({ ...environment, ...(name === 'single' ? {} : VALUES_OF_SECRETS) });
    expect(config.models.map(({ id }) => id)).toEqual(['builtin/eliza']);
  });

  it('reads CONFIG_FILE from where it is mounted', () => {
    const mount = (container['volumeMounts'] as Tree[]).find((each) => each['name'] === 'config');
    expect(environment['CONFIG_FILE']).toBe(`${String(mount?.['mountPath'])}/config.yaml`);
  });

  it('has time to finish its streams', () => {
    const preStop = at(container, 'lifecycle/preStop/sleep/seconds') as number;
    const grace = Number(environment['SHUTDOWN_GRACE_SECONDS']);
    const least = preStop + grace + AFTER_GRACE_SECONDS;
    expect(preStop).toBeGreaterThanOrEqual(5);
    expect(pod['terminationGracePeriodSeconds']).toBeGreaterThanOrEqual(least + 5);
  });

  it('has the rights of the restricted standard, and fewer', () => {
    expect(others).toEqual([]);
    expect(pod['initContainers']).toBeUndefined();
    expect(pod['hostNetwork'] ?? pod['hostPID'] ?? pod['hostIPC']).toBeUndefined();
    expect(pod['automountServiceAccountToken']).toBe(false);
    expect(find('ServiceAccount')?.['automountServiceAccountToken']).toBe(false);
    expect(pod['securityContext']).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    expect(container['securityContext']).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    for (const amount of ['requests/cpu', 'requests/memory', 'limits/memory']) {
      expect(at(container, `resources/${amount}`), amount).toEqual(expect.any(String));
    }
    expect(find('Namespace')?.metadata['labels']).toMatchObject({ 'pod-security.kubernetes.io/enforce': 'restricted' });
  });

  it('runs an image that is named by its digest, with the version in a comment', () => {
    expect(container['image']).toMatch(/^[\w.-]+\/[\w./-]+@sha256:[0-9a-f]{64}$/);
    const text = readFileSync(join(overlay(name), 'kustomization.yaml'), 'utf8');
    expect(text).toMatch(/^ +# \d+\.\d+\.\d+\b.*\n +digest: sha256:/m);
  });

  it('stops proxies from buffering or cutting streams', () => {
    const annotations = find('Ingress')?.metadata['annotations'] as Record<string, string>;
    const nginx = Object.fromEntries(
      Object.entries(annotations).map(([key, value]) => [key.replace('nginx.ingress.kubernetes.io/', ''), value]),
    );
    expect(nginx).toMatchObject({
      'proxy-buffering': 'off',
      'proxy-http-version': '1.1',
      'proxy-read-timeout': '3600',
      'proxy-send-timeout': '3600',
    });
    // Above the 4 MiB of the service, whose answer to a longer body is the one that clients know.
    expect(Number(/^(\d+)m$/.exec(nginx['proxy-body-size'] ?? '')?.[1])).toBeGreaterThan(4);
  });

  it('admits only the ingress controller and Prometheus, each to its own port', () => {
    expect(at(find('NetworkPolicy'), 'spec/policyTypes')).toEqual(['Ingress', 'Egress']);
    const rules = at(find('NetworkPolicy'), 'spec/ingress') as { from: Tree[]; ports: { port: string }[] }[];
    expect(rules.map((rule) => [rule.from.length, rule.ports.map((each) => each.port)])).toEqual([
      [1, ['http']],
      [1, ['metrics']],
    ]);
    const egress = at(find('NetworkPolicy'), 'spec/egress') as { ports: { port: number }[] }[];
    const open = egress.flatMap((rule) => rule.ports.map((each) => each.port));
    expect(open.sort((a, b) => a - b)).toEqual([53, 53, 443, 4318, 5432, 6379]);
  });

  it('talks to each store in one namespace, on one port, and to no other pod that it does not name', () => {
    const rules = at(find('NetworkPolicy'), 'spec/egress') as { to: Tree[]; ports: { port: number }[] }[];
    for (const [port, store] of [
      [5432, 'postgresql'],
      [6379, 'redis'],
    ] as const) {
      const allowed = rules.filter((rule) => rule.ports.some((each) => each.port === port));
      expect(allowed).toEqual([
        {
          to: [
            {
              namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': store } },
              podSelector: { matchLabels: { 'app.kubernetes.io/name': store } },
            },
          ],
          ports: [{ port }],
        },
      ]);
    }
    for (const peer of rules.flatMap(({ to }) => to)) {
      const namespace = at(peer, 'namespaceSelector/matchLabels') as Tree | undefined;
      expect(peer['ipBlock'] ?? namespace?.['kubernetes.io/metadata.name'], JSON.stringify(peer)).toBeDefined();
    }
  });

  it('reaches providers on port 443, and no address inside of a cluster or a cloud', () => {
    const rules = at(find('NetworkPolicy'), 'spec/egress') as { to: Tree[]; ports: { port: number }[] }[];
    const [providers] = rules.filter((rule) => rule.ports.some((each) => each.port === 443));
    expect(providers?.ports).toEqual([{ port: 443 }]);
    const blocks = (providers?.to ?? []).map(({ ipBlock }) => ipBlock as { cidr: string; except: string[] });
    expect(blocks.map(({ cidr }) => cidr)).toEqual(['0.0.0.0/0', '::/0']);
    const except = blocks.flatMap((block) => block.except);
    for (const range of ['10.0.0.0/8', '100.64.0.0/10', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16']) {
      expect(except).toContain(range);
    }
    expect(except).toEqual(expect.arrayContaining(['fc00::/7', 'fe80::/10']));
  });

  function secretValues(): Record<string, string> {
    return Object.fromEntries(
      Object.keys(secrets).map((key) => [key, VALUES_OF_SECRETS[key] ?? ADDRESSES[key] ?? 'a-key']),
    );
  }

  /** What the service makes of the variables, with the mounted file where this machine has it. */
  function loadWith(variables: Record<string, string>): Config {
    const folder = mkdtempSync(join(tmpdir(), 'chat-deploy-'));
    try {
      const file = find('ConfigMap', 'chat-streaming-config');
      const path = join(folder, 'config.yaml');
      writeFileSync(path, at(file, 'data/config.yaml') as string);
      return loadConfig({ NODE_ENV: 'production', ...variables, CONFIG_FILE: path });
    } finally {
      rmSync(folder, { recursive: true });
    }
  }
});
