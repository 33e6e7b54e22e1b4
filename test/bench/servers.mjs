// The three servers of a bench: the provider, the lean relay and the gateway.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { freePort, MeasuredProcess, REPOSITORY, temporaryFolder } from './processes.mjs';
import { startReplicas } from './replicas.mjs';
import { scriptNamed } from './scripts.mjs';

/**
 * @typedef {import('./connection.mjs').Target & ServerOnly} Server
 *
 * @typedef {object} ServerOnly
 * @property {Pick<MeasuredProcess, 'usage' | 'stop'>} process
 * @property {boolean} [isDurable] the streams are durable
 * @property {() => { statements: number, commands: number }} [traffic] the SQL statements and the Redis commands so far
 */
/** @typedef {{ connections: number, streams: number, requests: number, finished: number, events: number, bytes: number }} Counters */

/** @typedef {{ command?: string, variables?: Record<string, string> }} GatewayOptions override the options of the stand */

/**
 * @typedef {object} Stand
 * @property {Server & { counters: () => Promise<Counters> }} provider
 * @property {() => Promise<Server>} startRelay
 * @property {() => Promise<Server>} startNest starts the relay in an empty handler of Nest
 * @property {() => Promise<Server>} startLeanNest starts the same with the HTTP adapter of the service
 * @property {(options?: GatewayOptions) => Promise<Server>} startGateway
 * @property {() => Promise<Server>} startCompletions starts the gateway for requests to `POST /chat/completions`
 * @property {() => Promise<Server>} startUnobserved starts the gateway without ledger, metrics and request logs
 * @property {() => Promise<Server>} startObserved starts the gateway with ledger, metrics and request logs
 * @property {() => Promise<Server>} startTools starts the same for requests that offer tools
 * @property {() => Promise<Server>} startDurable starts the gateway for durable streams
 * @property {(count: number) => Promise<Server>} startReplicas starts replicas on a PostgreSQL and a Redis of their own
 * @property {() => Promise<Server>} startBudgeted starts the gateway for an account with a budget
 * @property {() => Promise<Server>} startLimitedKey starts the same for a key with limits of its own
 * @property {(tier: string) => Promise<string>} createKey creates another account and an API key. A gateway must be running.
 */

/** A tier with all limits. The service checks each limit, and no load of a bench reaches one. */
export const NO_LIMIT_REACHED = {
  requests_per_minute: 10_000_000,
  concurrent_streams: 1_000_000,
  tokens_per_day: 1e12,
};

/** The same tier with a budget. An account needs the tier `budgeted`. */
const BUDGETED_TIER = { ...NO_LIMIT_REACHED, budget: { amount: 1e9, per: 'month' } };

/** All limits of a key, for {@link createKey}. */
const KEY_LIMITS = [
  ...['--budget', '1000000', '--budget-per', 'month'],
  ...['--requests-per-minute', '10000000', '--tokens-per-day', '1000000000'],
  ...['--models', 'bench/*', '--addresses', '127.0.0.0/8'],
];

const CONTEXT_LENGTH = 1_000_000;
/** The ledger knows the cost of every request, as in a usual service. */
const PRICE = { input_per_million: 1, output_per_million: 5 };
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
 * @param {string} [options.node] the path of the Node binary of the relay and the gateway. By default, the binary of the bench.
 * @param {string} [options.logLevel] LOG_LEVEL of the gateway
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
  node: binary = process.execPath,
  logLevel = 'warn',
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
    price: PRICE,
  }));
  const tiers = { bench: tier, budgeted: BUDGETED_TIER, ...otherTiers };
  const environment = { ...gatewayEnvironment(providerUrl, models, tiers, standIn), LOG_LEVEL: logLevel, ...stores };
  /** @type {string | undefined} */
  let accountKey = key === 'none' ? undefined : key;

  const startGateway = async ({ command = gatewayCommand, variables = {} } = {}) => {
    const port = await freePort();
    const [node, ...rest] = command.split(' ');
    const flags = profileFolder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileFolder}`];
    const gateway = new MeasuredProcess(
      'gateway',
      [node, ...flags, ...rest],
      { ...environment, ...variables, PORT: String(port) },
      binary,
    );
    await gateway.until('answers GET /health', () => answersHealth(port));
    if (key === undefined) accountKey ??= await newKey();
    return { process: gateway, port, key: accountKey };
  };
  const newKey = (options) => createKey(binary, buildOf(gatewayCommand), environment, options);

  const startRelay = async (name, ...command) => {
    const variables = { PROVIDER_URL: providerUrl, MODELS_JSON: JSON.stringify({ models }), NODE_ENV: 'production' };
    const relay = new MeasuredProcess(name, ['node', ...command], variables, binary);
    return { process: relay, port: await relay.reportedPort(), key: undefined };
  };

  return {
    provider: {
      ...provider,
      counters: async () => (await fetch(`http://127.0.0.1:${provider.port}/control/counters`)).json(),
    },
    createKey: (tierName) => newKey({ tier: tierName }),
    startRelay: () => startRelay('relay', 'test/bench/relay.mjs'),
    startNest: async () => ({ ...(await startRelay('nest', 'test/bench/nest-relay.mjs')), isOfNest: true }),
    startLeanNest: async () => ({
      ...(await startRelay('lean nest', 'test/bench/nest-relay.mjs', 'lean')),
      isOfNest: true,
    }),
    startGateway,
    startCompletions: async () => ({ ...(await startGateway()), isOfCompletions: true }),
    startUnobserved: () => {
      const build = buildOf(gatewayCommand);
      const command = gatewayCommand.replace(join(build, 'main.js'), `test/bench/unobserved.mjs ${build}`);
      return startGateway({ command, variables: { LOG_LEVEL: 'fatal' } });
    },
    startObserved: async () =>
      startGateway({ variables: { LOG_LEVEL: 'info', METRICS_PORT: String(await freePort()) } }),
    startTools: async () => ({ ...(await startGateway()), isOfCompletions: true, offersTools: true }),
    startDurable: async () => ({ ...(await startGateway()), isDurable: true }),
    startReplicas: async (count) => {
      let replicaKey;
      return startReplicas(count, async (stores) => {
        const replica = await startGateway({ variables: stores });
        replicaKey ??= await createKey(binary, buildOf(gatewayCommand), { ...environment, ...stores });
        return { ...replica, key: replicaKey };
      });
    },
    startBudgeted: async () => ({ ...(await startGateway()), key: await newKey({ tier: 'budgeted' }) }),
    startLimitedKey: async () => ({
      ...(await startGateway()),
      key: await newKey({ tier: 'budgeted', limits: KEY_LIMITS }),
    }),
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

/** The folder of the build of the gateway. The build may come from another checkout. */
function buildOf(gatewayCommand) {
  const main = gatewayCommand.split(' ').findLast((part) => part.endsWith('main.js'));
  if (main === undefined) {
    throw new Error(
      '--gateway-cmd does not end in main.js: give a --key, or none, and --only scenarios except observed.',
    );
  }
  return dirname(main);
}

/** @returns {Promise<string>} */
async function createKey(binary, build, environment, { tier = 'bench', limits = [] } = {}) {
  const admin = async (...parameters) => {
    const { stdout } = await promisify(execFile)(binary, [join(build, 'admin.js'), ...parameters], {
      cwd: REPOSITORY,
      env: { PATH: process.env.PATH, ...environment },
    });
    return JSON.parse(stdout);
  };
  const email = `bench-${randomBytes(4).toString('hex')}@example.com`;
  const password = randomBytes(18).toString('hex');
  await admin('account', 'create', '--email', email, '--password', password, '--tier', tier);
  const { key } = await admin('key', 'create', '--email', email, '--name', 'bench', ...limits);
  return key;
}
