export interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

export interface RedisCredentials {
  readonly username: string | undefined;
  readonly password: string | undefined;
}

/** Where Redis is. `credentials` are those of the Redis servers. */
export type RedisAddress =
  | { readonly kind: 'server'; readonly url: string; readonly database: number }
  | {
      readonly kind: 'sentinel';
      readonly tls: boolean;
      readonly sentinels: readonly HostAndPort[];
      readonly sentinelCredentials: RedisCredentials;
      /** The name of the monitored master. */
      readonly master: string;
      readonly credentials: RedisCredentials;
      readonly database: number;
    }
  | {
      readonly kind: 'cluster';
      readonly tls: boolean;
      /** Some servers of the cluster, which know the others. */
      readonly seeds: readonly HostAndPort[];
      readonly credentials: RedisCredentials;
    };

const GROUP = /^redis(s?)\+(sentinel|cluster):\/\//;
const HOST = /^(\[[\da-f:.]+\]|[\w.-]+)(?::(\d{1,5}))?$/i;
const SERVER_PATH = /^\/?(?:(\d{1,5})\/?)?$/;
const SENTINEL_PATH = /^\/([\w.-]+)(?:\/(\d+))?$/;
const SENTINEL_PARAMETERS = ['sentinel_user', 'sentinel_password'];
const SENTINEL_PORT = 26_379;
const REDIS_PORT = 6379;
const FORMS =
  'redis://…, rediss://…, redis+sentinel://host:port,…/<master> or redis+cluster://host:port,… (rediss+… with TLS)';

/**
 * Parses REDIS_URL:
 * - `redis[s]://[user:password@]host[:port][/<database>]`
 * - `redis[s]+sentinel://[user:password@]host[:port],…/<master>[/<database>][?sentinel_user=…&sentinel_password=…]`
 * - `redis[s]+cluster://[user:password@]host[:port],…`
 *
 * @returns a text that says what is wrong, if the URL has none of these forms.
 */
export function readRedisUrl(url: string): RedisAddress | string {
  const group = GROUP.exec(url);
  if (group === null) {
    if (!/^rediss?:\/\//.test(url) || !URL.canParse(url)) return `must be ${FORMS}`;
    const database = SERVER_PATH.exec(new URL(url).pathname);
    if (database === null) return 'must end with the number of the database, or with the port';
    return { kind: 'server', url, database: Number(database[1] ?? 0) };
  }
  const [scheme, s, kind] = group;
  const [location = '', query] = url.slice(scheme.length).split(/\?(.*)/s, 2);
  const [authority = '', rest] = location.split(/\/(.*)/s, 2);
  const path = rest === undefined ? '' : `/${rest}`;
  const at = authority.lastIndexOf('@');
  const credentials = readCredentials(authority.slice(0, Math.max(at, 0)));
  if (credentials === undefined) return 'has a % that is not encoded as %25';
  const hosts = readHosts(authority.slice(at + 1), kind === 'sentinel' ? SENTINEL_PORT : REDIS_PORT);
  if (hosts === undefined) return 'must name its servers as host:port,host:port';
  const tls = s === 's';
  return kind === 'cluster'
    ? (problemOfCluster(path, query) ?? { kind, tls, seeds: hosts, credentials })
    : sentinelAddress({ tls, sentinels: hosts, credentials, path, query });
}

function problemOfCluster(path: string, query: string | undefined): string | undefined {
  if (/^\/\d+$/.test(path)) return 'a cluster has no databases: remove the number after the servers';
  return path.length > 1 || query !== undefined ? 'must end after the servers of the cluster' : undefined;
}

interface SentinelParts {
  readonly tls: boolean;
  readonly sentinels: readonly HostAndPort[];
  readonly credentials: RedisCredentials;
  readonly path: string;
  readonly query: string | undefined;
}

function sentinelAddress({ tls, sentinels, credentials, path, query = '' }: SentinelParts): RedisAddress | string {
  const [, master, database = '0'] = SENTINEL_PATH.exec(path) ?? [];
  if (master === undefined)
    return 'must name the master that the Sentinels watch: redis+sentinel://host:port,…/<master>';
  const parameters = query === '' ? [] : query.split('&').map((each) => each.split(/=(.*)/s, 2));
  const unknown = parameters.find(([name = '']) => !SENTINEL_PARAMETERS.includes(name));
  if (unknown !== undefined) return `may only have the parameters ${SENTINEL_PARAMETERS.join(' and ')}`;
  const [user, password] = SENTINEL_PARAMETERS.map((name) => parameters.find(([each]) => each === name)?.[1] ?? '');
  const sentinelCredentials = readCredentials(`${user ?? ''}:${password ?? ''}`);
  if (sentinelCredentials === undefined) return 'has a % that is not encoded as %25';
  return { kind: 'sentinel', tls, sentinels, sentinelCredentials, master, credentials, database: Number(database) };
}

function readHosts(list: string, defaultPort: number): HostAndPort[] | undefined {
  const hosts = list.split(',').map((address) => {
    const [, host, port = defaultPort] = HOST.exec(address) ?? [];
    return host === undefined ? undefined : { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
  });
  return hosts.every((host) => host !== undefined) ? hosts : undefined;
}

/** @returns `undefined` if the text is not percent-encoded. */
function readCredentials(text: string): RedisCredentials | undefined {
  const [user = '', password = ''] = text.split(/:(.*)/s, 2);
  try {
    return { username: decodeURIComponent(user) || undefined, password: decodeURIComponent(password) || undefined };
  } catch {
    return undefined;
  }
}
