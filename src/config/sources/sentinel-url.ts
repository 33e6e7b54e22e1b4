/** The servers of a Sentinel group. */
export interface SentinelAddress {
  readonly sentinels: readonly { readonly host: string; readonly port: number }[];
  /** The name of the monitored master. */
  readonly master: string;
  /** The port of all Redis servers of the group. */
  readonly port: number;
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly database: number;
}

const URL_OF_SENTINELS =
  /^redis\+sentinel:\/\/(?:([^:@/]*)(?::([^@/]*))?@)?([\w.-]+(?::\d+)?(?:,[\w.-]+(?::\d+)?)*)\/([\w.-]+)(?:\/(\d+))?(?:\?port=(\d+))?$/;
const SENTINEL_PORT = 26_379;
const REDIS_PORT = 6379;

export function isSentinelUrl(url: string): boolean {
  return url.startsWith('redis+sentinel:');
}

/**
 * Parses `redis+sentinel://[user:password@]host:port,…/<master>[/<database>][?port=<port of Redis>]`. User and password are
 * those of the Redis servers.
 *
 * @returns `undefined` for another form.
 */
export function readSentinelUrl(url: string): SentinelAddress | undefined {
  const [whole, user, password, hosts = '', master = '', database = '0', port] = URL_OF_SENTINELS.exec(url) ?? [];
  if (whole === undefined) return undefined;
  return {
    sentinels: hosts.split(',').map((address) => {
      const [host = '', ownPort = SENTINEL_PORT] = address.split(':');
      return { host, port: Number(ownPort) };
    }),
    master,
    port: port === undefined ? REDIS_PORT : Number(port),
    username: user ? decodeURIComponent(user) : undefined,
    password: password ? decodeURIComponent(password) : undefined,
    database: Number(database),
  };
}
