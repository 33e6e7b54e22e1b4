import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseDockerfile } from './dockerfile.js';
import { OVERLAYS, overlay, ROOT } from './folders.js';
import { render } from './kustomization.js';
import { at } from './resource.js';

const text = readFileSync(join(ROOT, 'deploy', 'Dockerfile'), 'utf8');
const { args, stages } = parseDockerfile(text);
const last = stages.at(-1);
const all = stages.flatMap(({ instructions }) => instructions);
const words = (name: string) =>
  (last?.instructions ?? []).filter((each) => each.name === name).map((each) => each.words);
const copies = all
  .filter(({ name }) => name === 'COPY')
  .map((each) => ({
    from: /--from=(\S+)/.exec(each.words)?.[1],
    paths: each.words.replace(/--\S+\s+/g, '').split(/\s+/),
  }));

describe('the image', () => {
  it('is made of stages, on a Node of a fixed version that the service supports', () => {
    const versions = args.map(({ words: version }) => /^(?:BUILD_)?NODE_VERSION=(\d+)\.\d+\.\d+$/.exec(version)?.[1]);
    const [major, builder] = versions.map(Number);
    expect([versions.length, builder]).toEqual([2, major]);
    // Even ones are those that are maintained for years.
    expect(Number(major) % 2).toBe(0);
    expect(major).toBeGreaterThanOrEqual(20);
    const names = stages.map(({ name }) => name);
    const images = ['NODE_VERSION', 'BUILD_NODE_VERSION'].map((version) => `node:\${${version}}-bookworm-slim`);
    for (const { from } of stages) expect([...images, ...names]).toContain(from);
    expect(stages.find(({ name }) => name === last?.from)?.from ?? last?.from).toBe(images[0]);
    for (const { from } of copies) expect([undefined, ...names]).toContain(from);
  });

  it('copies only what is there, and what .dockerignore lets through', () => {
    const sources = copies.filter(({ from }) => from === undefined).flatMap(({ paths }) => paths.slice(0, -1));
    expect(sources.length).toBeGreaterThan(0);
    for (const source of sources) {
      expect(existsSync(join(ROOT, source)), source).toBe(true);
      expect(isInContext(source), source).toBe(true);
    }
  });

  it('is built without what a developer has lying about', () => {
    for (const path of [
      '.env',
      'src/.env',
      'src/platform/config/.env.local',
      '.git/HEAD',
      '.npmrc',
      'node_modules/pino/package.json',
      'dist/main.js',
      'data/chat.sqlite',
      'test/browser/output/page.png',
      'coverage/index.html',
      'deploy/kubernetes/overlays/production/secrets.env',
    ]) {
      expect(isInContext(path), path).toBe(false);
    }
    expect(isInContext('src/main.ts')).toBe(true);
    expect(isInContext('deploy/build/build.mjs')).toBe(true);
  });

  it('installs the exact packages of the lock file, and runs without those for development', () => {
    const runs = all.filter(({ name }) => name === 'RUN').map((run) => run.words);
    expect(runs.filter((run) => /npm (ci|install|i)\b/.test(run))).toEqual([expect.stringContaining('npm ci')]);
    expect(copies).toContainEqual({ from: 'production-packages', paths: ['/app/node_modules', 'node_modules'] });
    const production = stages.find(({ name }) => name === 'production-packages');
    expect(production?.instructions[0]?.words).toContain('npm prune --omit=dev');
    // The compiler of native packages stays behind.
    expect((last?.instructions ?? []).filter((run) => /apt-get|npm (ci|prune)/.test(run.words))).toEqual([]);
  });

  it('runs as the same user as in Kubernetes, by number', () => {
    expect(words('USER')).toEqual(['10001:10001']);
    const order = (last?.instructions ?? []).map(({ name }) => name);
    // Nothing is made or changed as that user: it owns its volume only.
    expect(order.slice(order.indexOf('USER'))).not.toContain('RUN');
    expect(order.slice(order.indexOf('USER'))).not.toContain('COPY');
    for (const name of OVERLAYS) {
      const deployment = render(overlay(name)).resources.find(({ kind }) => kind === 'Deployment');
      expect(at(deployment, 'spec/template/spec/securityContext')).toMatchObject({
        runAsUser: 10001,
        runAsGroup: 10001,
      });
    }
  });

  it('starts node itself, so that signals reach the service', () => {
    expect(words('ENTRYPOINT')).toEqual(['[]']);
    expect(words('CMD').map((command) => JSON.parse(command) as unknown)).toEqual([['node', 'dist/main.js']]);
  });

  it('listens on all addresses, in production, and keeps its database on the volume', () => {
    expect(Object.fromEntries((words('ENV')[0] ?? '').split(/\s+/).map((pair) => pair.split('=')))).toEqual({
      NODE_ENV: 'production',
      HOST: '0.0.0.0',
      PORT: '3000',
      DATABASE_URL: 'sqlite:/data/chat.sqlite',
    });
    expect(words('VOLUME')).toEqual(['/data']);
    expect(words('EXPOSE')).toEqual(['3000 9464']);
  });

  it('has no secret in it', () => {
    expect(text).not.toMatch(/(API_KEY|PASSWORD|TOKEN|SECRET)\b|csk_|sk-|postgres:\/\/|redis:\/\//i);
  });

  it('says what it is', () => {
    for (const label of ['title', 'description', 'version', 'revision']) {
      expect(words('LABEL')[0]).toContain(`org.opencontainers.image.${label}=`);
    }
  });

  it.each([
    [200, 0],
    [503, 1],
  ])('is healthy when the service answers, which is here %d: exit code %d', async (status, code) => {
    const asked: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url);
      response.writeHead(status).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');

    expect(await healthCheck((server.address() as AddressInfo).port)).toBe(code);

    expect(asked).toEqual(['/api/v1/health']);
    server.close();
  });

  it('is not healthy when nothing listens', async () => {
    expect(await healthCheck(9)).toBe(1);
  });
});

/** The exit code of the image's own check. */
async function healthCheck(port: number): Promise<unknown> {
  const check = /CMD (\[.*\])$/.exec(words('HEALTHCHECK')[0] ?? '')?.[1] ?? '[]';
  const [command = '', ...commandArgs] = JSON.parse(check) as string[];
  expect(command).toBe('node');
  const child = spawn(process.execPath, commandArgs, { env: { PORT: String(port) }, stdio: 'ignore' });
  const [code] = (await once(child, 'exit')) as unknown[];
  return code;
}

/** Whether the build gets the path: the last pattern that fits it, or a folder that it is in, decides. */
function isInContext(path: string): boolean {
  const patterns = readFileSync(join(ROOT, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const parts = path.split('/');
  const prefixes = parts.map((_, n) => parts.slice(0, n + 1).join('/'));
  return patterns.reduce((isIn, line) => {
    const pattern = line.replace(/^!/, '');
    return prefixes.some((prefix) => expression(pattern).test(prefix)) ? line.startsWith('!') : isIn;
  }, true);
}

/** Docker's patterns: a star matches names with a dot in front, too. */
function expression(pattern: string): RegExp {
  const source = pattern
    .split(/(\*\*\/|\*)/)
    .map((part) => ({ '**/': '(.*/)?', '*': '[^/]*' })[part] ?? part.replaceAll('.', '\\.'))
    .join('');
  return new RegExp(`^${source}$`);
}
