// The clients of a soak. Each client runs one exchange after another until the soak is over, and reports every problem.
import { readStream } from './client.mjs';
import { Connection } from './connection.mjs';
import { sleep } from './processes.mjs';

/** @typedef {import('./connection.mjs').Target} Target */

/**
 * @typedef {object} ClientKind
 * @property {string} name
 * @property {number} lines the number of clients of this kind that run at the same time
 * @property {readonly string[]} scripts
 * @property {(connection: Connection, target: Target, script: string) => Promise<string | undefined>} exchange
 *   returns the problem, or undefined
 */

/** The error codes that the service sends to its client, by the script of the failing provider. A provider that only fails cools down. */
const CODES_OF_FAILURE = {
  'cut-10': ['upstream_error'],
  'refuse-400': ['upstream_rejected'],
  'refuse-429': ['upstream_unavailable'],
  'refuse-500': ['upstream_error', 'upstream_unavailable'],
};

const between = (low, high) => low + Math.random() * (high - low);
const oneOf = (list) => list[Math.floor(Math.random() * list.length)];
const unlessComplete = (result) => (result.complete ? undefined : `not complete: ${JSON.stringify(result)}`);

/** @type {readonly ClientKind[]} */
export const CLIENT_KINDS = [
  {
    name: 'reads to the end',
    lines: 12,
    scripts: ['short-20', 'full-2000', 'paced-40x50'],
    exchange: async (connection, target, script) => unlessComplete(await readStream(connection, target, script)),
  },
  {
    name: 'leaves at a random time',
    lines: 8,
    scripts: ['paced-40x50', 'full-20000', 'flood-200000', 'idle'],
    exchange: async (connection, target, script) => {
      const leaving = setTimeout(() => connection.close(), between(0, 1500));
      const result = await readStream(connection, target, script);
      clearTimeout(leaving);
      connection.close();
      // The server may notice the closed connection a moment later, and counts the stream until then.
      await sleep(100);
      return result.wrong ?? result.errorCode;
    },
  },
  {
    name: 'reads slowly',
    lines: 4,
    scripts: ['flood-3000'],
    exchange: async (connection, target, script) => {
      let resuming;
      const onChunk = () => {
        if (resuming !== undefined) return;
        connection.pause();
        resuming = setTimeout(
          () => {
            resuming = undefined;
            connection.resume();
          },
          between(10, 100),
        );
      };
      const result = await readStream(connection, target, script, { onChunk });
      clearTimeout(resuming);
      connection.resume();
      return unlessComplete(result);
    },
  },
  {
    name: 'meets a provider failure',
    lines: 4,
    scripts: Object.keys(CODES_OF_FAILURE),
    exchange: async (connection, target, script) => {
      const { complete, wrong, errorCode, status } = await readStream(connection, target, script);
      if (complete || wrong !== undefined) return wrong ?? 'a false end';
      // A relay in place of the gateway sends no error codes.
      if (target.key === undefined || CODES_OF_FAILURE[script].includes(errorCode)) return undefined;
      return `${script}: ${status} ${errorCode} in place of ${CODES_OF_FAILURE[script].join(' or ')}`;
    },
  },
];

export const LINES = CLIENT_KINDS.reduce((sum, { lines }) => sum + lines, 0);

/**
 * @param {ClientKind} kind
 * @param {Target} target
 * @param {() => boolean} isOver
 * @returns {Promise<{ name: string, exchanges: number, wrong: string[] }>}
 */
export async function runClients(kind, target, isOver) {
  const record = { name: kind.name, exchanges: 0, wrong: [] };
  const line = async () => {
    let connection = await Connection.open(target);
    while (!isOver()) {
      if (connection.closed) connection = await Connection.open(target);
      const wrong = await kind.exchange(connection, target, oneOf(kind.scripts));
      record.exchanges += 1;
      if (wrong !== undefined) record.wrong.push(wrong);
      await sleep(between(0, 200));
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: kind.lines }, line));
  return record;
}
