// The three servers of a bench: the provider, the bare relay and the gateway.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { freePort, MeasuredProcess, REPOSITORY, temporaryFolder } from './processes.mjs';
import { scriptNamed } from './scripts.mjs';

/** @typedef {{ process: MeasuredProcess, port: number, key: string | undefined }} Server a {@link import('./connection.mjs').Target} */
/** @typedef {{ connections: number, streams: number, requests: number, finished: number, events: number, bytes: number }} Counters */

/** @typedef {{ command?: string, variables?: Record<string, string> }} GatewayOptions override the options of the stand */

/**
 * @typedef {object} Stand
 * @property {Server & { counters: () => Promise<Counters> }} provider
 * @property {() => Promise<Server>} startRelay
 * @property {(options?: GatewayOptions) => Promise<Server>} startGateway
 * @property {(tier: string) => Promise<string>} createKey creates another account and an API key. A gateway must be running.
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
 * Starts the provider, and prepares the configuration of the relay and the gateway.
 *
 * @param {object} options
 * @param {readonly string[]} options.scripts each script becomes a model `bench/<script>`
 * @param {string} options.gatewayCommand
 * @param {string | undefined} options.key an API key to use; a new account by default; `none` for no accounts
 * @param {string | undefined} options.profileFolder the folder for CPU profiles of the gateway
 * @param {Record<string, number>} [options.tier] the limits of the default tier. No limits by default.
 * @param {Record<string, Record<string, number>>} [options.otherTiers] tiers for the accounts of {@link Stand.createKey}
 * @param {boolean} [options.standIn] whether the gateway also serves the built-in model
 * @param {Record<string, string>} [options.stores] DATABASE_URL and REDIS_URL. By default a new SQLite database without Redis.
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
  const providerProcess = new MeasuredProcess('provider', ['node', 'test/bench/provider.mjs'], {});
  const provider = { process: providerProcess, port: await providerProcess.reportedPort(), key: undefined };
  const providerUrl = `http://127.0.0.1:${provider.port}/v1`;
  const models = scripts.map((script) => ({
    id: `bench/${script}`,
    name: `Bench ${script}`,
    provider: 'Bench',
    context_length: CONTEXT_LENGTH,
  }));
  const tiers = { bench: tier, ...otherTiers };
  const environment = { ...gatewayEnvironment(providerUrl, models, tiers, standIn), ...stores };
  /** @type {string | undefined} */
  let accountKey = key === 'none' ? undefined : key;

  return {
    provider: {
      ...provider,
      counters: async () => (await fetch(`http://127.0.0.1:${provider.port}/control/counters`)).json(),
    },
    createKey: (tierName) => createKey(adminBeside(gatewayCommand), environment, tierName),
    startRelay: async () => {
      const relay = new MeasuredProcess('relay', ['node', 'test/bench/relay.mjs'], {
        PROVIDER_URL: providerUrl,
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

function gatewayEnvironment(providerUrl, models, tiers, standIn) {
  const folder = temporaryFolder();
  const upstream = {
    protocol: 'openai',
    base_url: providerUrl,
    api_key: '${BENCH_PROVIDER_KEY}',
    // The provider of the bench is silent for long times on purpose.
    timeouts: { idle_ms: 600_000 },
  };
  const configuration = {
    // Both upstreams are the same provider. With two names, the reaction of the gateway to failures does not affect other
    // streams.
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
  // Every JSON document is also YAML.
  writeFileSync(configFile, JSON.stringify(configuration, undefined, 2));
  return {
    NODE_ENV: 'production',
    HOST: '127.0.0.1',
    DATABASE_URL: `sqlite:${join(folder, 'chat.sqlite')}`,
    CONFIG_FILE: configFile,
    LOG_LEVEL: 'warn',
    BENCH_PROVIDER_KEY: 'sk-bench-not-a-secret',
    // Used if the relay runs in place of the gateway.
    PROVIDER_URL: providerUrl,
    MODELS_JSON: JSON.stringify({ models }),
  };
}

/** @returns {Promise<true | undefined>} */
async function answersHealth(port) {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/health`, { signal: AbortSignal.timeout(2000) });
    return response.ok ? true : undefined;
  } catch {
    // The server does not listen yet.
    return undefined;
  }
}

/** The path of the admin command in the build of the gateway. The build may come from another checkout. */
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
