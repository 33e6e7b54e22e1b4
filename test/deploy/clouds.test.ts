import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configFile, routesTo } from '../support/catalog.js';
import { CLOUD_REQUESTS, Clouds } from '../support/clouds/clouds.js';
import { Installation, type SpawnedProcess } from '../support/process.js';
import { stream } from '../support/sse-client.js';

const CLOUD_PACKAGE = /node_modules\/(@aws-sdk\/credential-provider-node|@smithy\/signature-v4|google-auth-library)\//;

describe('the packages of the clouds', () => {
  let clouds: Clouds;
  let folder: string;

  beforeAll(async () => {
    clouds = await Clouds.start();
    folder = await mkdtemp(join(tmpdir(), 'chat-coverage-'));
  });
  afterAll(async () => {
    await clouds.stop();
    await rm(folder, { recursive: true });
  });

  /** Starts the service, uses it, stops it, and returns the packages of the clouds that it has loaded. */
  async function loadedBy(name: string, config: string, use: (service: SpawnedProcess, key: string) => Promise<void>) {
    const coverage = join(folder, name);
    const installation = await Installation.create(config, clouds.env);
    try {
      const { key } = await installation.createKey();
      // At its end, Node writes the names of all modules that were loaded.
      const service = installation.start({ NODE_V8_COVERAGE: coverage });
      await service.origin();
      await use(service, key);
      service.signal('SIGTERM');
      expect(await service.exited).toMatchObject({ code: 0 });
    } finally {
      await installation.remove();
    }
    const reports = await Promise.all((await readdir(coverage)).map((file) => readFile(join(coverage, file), 'utf8')));
    const modules = reports.flatMap((text) => (JSON.parse(text) as { result: { url: string }[] }).result);
    expect(modules.some(({ url }) => url.includes('/dist/bundle/main.js'))).toBe(true);
    return [...new Set(modules.flatMap(({ url }) => CLOUD_PACKAGE.exec(url)?.[1] ?? []))].sort();
  }

  it('are not loaded without an upstream that needs them, nor before its first request', async () => {
    const idle = () => Promise.resolve();
    expect(await loadedBy('without', configFile(routesTo(['http://127.0.0.1:9'])), idle)).toEqual([]);
    expect(await loadedBy('before', configFile(clouds.catalog), idle)).toEqual([]);
  });

  it('are loaded by the program for one model over Bedrock in two regions, Vertex AI and Azure, at all four surfaces', async () => {
    const use = async (service: SpawnedProcess, key: string) => {
      const origin = await service.origin();
      for (const [path, body] of CLOUD_REQUESTS) {
        clouds.answer();
        for (const provider of clouds.providers) {
          const { status, raw } = await stream(origin, { key, path, body });
          expect([status, provider.calls.length], raw).toEqual([200, 1]);
          expect(raw).toContain('Hello from');
          provider.answers((call) => {
            call.refuse(503, { 'x-amzn-errortype': 'ServiceUnavailableException' }, '{"message":"because"}');
          });
        }
      }
    };
    expect(await loadedBy('with', configFile(clouds.catalog), use)).toEqual([
      ...['@aws-sdk/credential-provider-node', '@smithy/signature-v4', 'google-auth-library'],
    ]);
  });
});
