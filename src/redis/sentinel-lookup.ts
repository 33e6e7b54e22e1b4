import { lookup as lookUpName } from 'node:dns/promises';
import { connect, isIP, type LookupFunction } from 'node:net';
import type { SentinelAddress } from '../config/sources/sentinel-url.js';

/** How long one Sentinel may take to answer. Then the next one is asked. */
const PATIENCE_MS = 500;
/** The answer to `SENTINEL get-master-addr-by-name`: two texts, or nothing for an unknown master. */
const ANSWER = /^\*2\r\n\$\d+\r\n([^\r]+)\r\n\$\d+\r\n(\d+)\r\n/;

/**
 * Returns a function that finds the address of the current master for each new connection. A client that uses it for its
 * connections follows a failover by itself: Sentinel closes the connections to the old master.
 */
export function sentinelLookup(group: SentinelAddress): LookupFunction {
  return (_, options, callback) => {
    findMaster(group).then(
      ({ address, family }) => {
        if (options.all === true) callback(null, [{ address, family }]);
        else callback(null, address, family);
      },
      (error: unknown) => {
        callback(error as Error, '');
      },
    );
  };
}

/**
 * Asks one Sentinel after the other.
 *
 * @throws {Error} if no Sentinel knows the master.
 */
async function findMaster({ sentinels, master, port }: SentinelAddress) {
  for (const sentinel of sentinels) {
    const [, host = '', masterPort] = ANSWER.exec(await ask(sentinel, master)) ?? [];
    if (host === '') continue;
    if (Number(masterPort) !== port) {
      throw new Error(`the master has the port ${masterPort ?? ''}: add ?port=${masterPort ?? ''} to REDIS_URL`);
    }
    const family = isIP(host);
    return family === 0 ? lookUpName(host) : { address: host, family };
  }
  throw new Error(`no Sentinel knows the master ${master}`);
}

/** Returns what the Sentinel has answered: nothing, if it does not answer in time. */
function ask({ host, port }: SentinelAddress['sentinels'][number], master: string): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect({ host, port, timeout: PATIENCE_MS });
    const deadline = setTimeout(() => socket.destroy(), PATIENCE_MS);
    socket.setEncoding('utf8');
    socket.on('connect', () => {
      const words = ['SENTINEL', 'get-master-addr-by-name', master];
      socket.write(`*3\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`);
    });
    socket.on('data', (text: string) => {
      answer += text;
      if (ANSWER.test(answer) || /^[*-]-?\w[^\n]*\n$/.test(answer)) socket.destroy();
    });
    socket.on('timeout', () => socket.destroy());
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(deadline);
      resolve(answer);
    });
  });
}
