// The three servers of a bench: vendor, bare relay, gateway.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { freePort, MeasuredProcess, REPOSITORY, temporaryFolder } from './processes.mjs';
import { scriptNamed } from './scripts.mjs';

/** @typedef {{ process: MeasuredProcess, port: number, key: string | undefined }} Server a {@link import('./connection.mjs').Target} */
/** @typedef {{ connections: number, streams: number, requests: number, finished: number, events: number, bytes: number }} Counters */

/** @typedef {{ command?: string, variables?: Record<string, string> }} GatewayOptions over those of the stand */

/**
 * @typedef {object} Stand
 * @property {Server & { counters: () => Promise<Counters> }} vendor
 * @property {() => Promise<Server>} startRelay
 * @property {(options?: GatewayOptions) => Promise<Server>} startGateway
 * @property {(tier: string) => Promise<string>} createKey the key of one more account; a gateway must run
 */

const CONTEXT_LENGTH = 1_000_000;
const STAND_IN = {
  id: 'builtin/eliza',
  name: 'Stand-in',
  provider: 'Built-in',
  context_length: CONTEXT_LENGTH,
  routes: [{ upstream: 'builtin', model: 'eliza' }],
};

/**
 * Starts the vendor and prepares the rest.
 *
 * @param {object} options
 * @param {readonly string[]} options.scripts each becomes a model `bench/<script>`
 * @param {string} options.gatewayCommand
 * @param {string | undefined} options.key instead of a new account's; `none` for a gateway without accounts
 * @param {string | undefined} options.profileFolder where the gateway leaves CPU profiles
 * @param {Record<string, number>} [options.tier] limits; none when left out
 * @param {Record<string, Record<string, number>>} [options.otherTiers] for accounts of {@link Stand.createKey}
 * @param {boolean} [options.standIn] whether the gateway serves the built-in model, too
 * @param {Record<string, string>} [options.stores] DATABASE_URL and REDIS_URL; a database of its own when left out
 * @returns {Promise<Stand>}
 */
export async function prepare({
  scripts,
  gatewayCommand,
  key,
  profileFolder,
  tier = {},
  otherTiers = {},
  standIn = false,
  stores = {},
}) {
  const vendorProcess = new MeasuredProcess('vendor', ['node', 'test/bench/vendor.mjs'], {});
  const vendor = { process: vendorProcess, port: await vendorProcess.reportedPort(), key: undefined };
  const vendorUrl = `http://127.0.0.1:${vendor.port}/v1`;
  const models = scripts.map((script) => ({
    id: `bench/${script}`,
    name: `Bench ${script}`,
    provider: 'Bench',
    context_length: CONTEXT_LENGTH,
  }));
  const tiers = { bench: tier, ...otherTiers };
  const environment = { ...gatewayEnvironment(vendorUrl, models, tiers, standIn), ...stores };
  /** @type {string | undefined} */
  let accountKey = key === 'none' ? undefined : key;

  return {
    vendor: {
      ...vendor,
      counters: async () => (await fetch(`http://127.0.0.1:${vendor.port}/control/counters`)).json(),
    },
    createKey: (tierName) => createKey(adminBeside(gatewayCommand), environment, tierName),
    startRelay: async () => {
      const relay = new MeasuredProcess('relay', ['node', 'test/bench/relay.mjs'], {
        VENDOR_URL: vendorUrl,
        MODELS_JSON: JSON.stringify({ models }),
        NODE_ENV: 'production',
      });
      return { process: relay, port: await relay.reportedPort(), key: undefined };
    },
    startGateway: async ({ command = gatewayCommand, variables = {} } = {}) => {
      const port = await freePort();
      const [node, ...rest] = command.split(' ');
      const flags = profileFolder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileFolder}`];
      const gateway = new MeasuredProcess('gateway', [node, ...flags, ...rest], {
        ...environment,
        ...variables,
        PORT: String(port),
      });
      await gateway.until('answers GET /health', () => answersHealth(port));
      if (key === undefined) accountKey ??= await createKey(adminBeside(gatewayCommand), environment);
      return { process: gateway, port, key: accountKey };
    },
  };
}

function gatewayEnvironment(vendorUrl, models, tiers, standIn) {
  const folder = temporaryFolder();
  const upstream = {
    protocol: 'openai',
    base_url: vendorUrl,
    api_key: '${BENCH_VENDOR_KEY}',
    // A vendor that says nothing for a while is part of the bench.
    timeouts: { idle_ms: 600_000 },
  };
  const configuration = {
    // Two names of one vendor, so that what a gateway concludes from failures does not reach the other streams.
    upstreams: { sound: upstream, failing: upstream, ...(standIn && { builtin: { protocol: 'builtin' } }) },
    models: [
      ...models.map((model) => {
        const script = model.id.slice('bench/'.length);
        const fails = ['cut', 'refuse'].includes(scriptNamed(script).kind);
        return { ...model, routes: [{ upstream: fails ? 'failing' : 'sound', model: script }] };
      }),
      ...(standIn ? [STAND_IN] : []),
    ],
    tiers,
    default_tier: 'bench',
  };
  const configFile = join(folder, 'config.yaml');
  // JSON is YAML.
  writeFileSync(configFile, JSON.stringify(configuration, undefined, 2));
  return {
    NODE_ENV: 'production',
    HOST: '127.0.0.1',
    DATABASE_URL: `sqlite:${join(folder, 'chat.sqlite')}`,
    CONFIG_FILE: configFile,
    LOG_LEVEL: 'warn',
    BENCH_VENDOR_KEY: 'sk-bench-not-a-secret',
    // For a relay in the gateway's place.
    VENDOR_URL: vendorUrl,
    MODELS_JSON: JSON.stringify({ models }),
  };
}

/** @returns {Promise<true | undefined>} */
async function answersHealth(port) {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/health`, { signal: AbortSignal.timeout(2000) });
    return response.ok ? true : undefined;
  } catch {
    // Not listening yet.
    return undefined;
  }
}

/** The admin command of the same build: a run may measure another than that of this checkout. */
function adminBeside(gatewayCommand) {
  const main = gatewayCommand.split(' ').findLast((part) => part.endsWith('main.js'));
  if (main === undefined) throw new Error('--gateway-cmd does not end in main.js: give a --key, or none.');
  return join(dirname(main), 'admin.js');
}

/** @returns {Promise<string>} */
async function createKey(adminScript, environment, tier = 'bench') {
  const admin = async (...parameters) => {
    const { stdout } = await promisify(execFile)(process.execPath, [adminScript, ...parameters], {
      cwd: REPOSITORY,
      env: { PATH: process.env.PATH, ...environment },
    });
    return JSON.parse(stdout);
  };
  const email = `bench-${randomBytes(4).toString('hex')}@example.com`;
  const password = randomBytes(18).toString('hex');
  await admin('account', 'create', '--email', email, '--password', password, '--tier', tier);
  const { key } = await admin('key', 'create', '--email', email, '--name', 'bench');
  return key;
}
