// A proxy between the service and a store. It counts the commands and bytes that pass.
import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/** @typedef {{ commands: number, sent: number, received: number }} Traffic the bytes that the service sent and received */

/** @typedef {(bytes: Buffer) => number} Counter counts the commands in the bytes of one connection. Call it in byte order. */

export class CountingProxy {
  /** @type {Traffic} */
  traffic = { commands: 0, sent: 0, received: 0 };
  /** The open connections of the service. */
  connections = 0;
  #server;

  /**
   * @param {number} port the port of the store
   * @param {() => Counter} counterOf creates the counter for a connection
   */
  static async start(port, counterOf) {
    const proxy = new CountingProxy();
    proxy.#server = createServer({ noDelay: true }, (client) => {
      const store = connect({ port, host: '127.0.0.1', noDelay: true });
      const count = counterOf();
      proxy.connections += 1;
      client.on('close', () => (proxy.connections -= 1));
      client.on('data', (bytes) => {
        proxy.traffic.commands += count(bytes);
        proxy.traffic.sent += bytes.length;
        store.write(bytes);
      });
      store.on('data', (bytes) => {
        proxy.traffic.received += bytes.length;
        client.write(bytes);
      });
      client.on('error', () => store.destroy()).on('close', () => store.destroy());
      store.on('error', () => client.destroy()).on('close', () => client.destroy());
    }).listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    proxy.#server.unref();
    return proxy;
  }

  get port() {
    return this.#server.address().port;
  }
}

/** Counts the commands of Redis. A command is an array of strings. @returns {Counter} */
export function redisCommands() {
  let rest = '';
  return (bytes) => {
    const text = rest + bytes.toString('latin1');
    // The last line may be incomplete. It waits for more bytes.
    const whole = text.lastIndexOf('\r\n') + 2;
    rest = text.slice(whole);
    return text.slice(0, whole).match(/\*\d+\r\n(?=\$|$)/g)?.length ?? 0;
  };
}

const SIMPLE_QUERY = 'Q'.charCodeAt(0);
const EXECUTE = 'E'.charCodeAt(0);
const HEADER_LENGTH = 5;

/**
 * Counts the statements of PostgreSQL. A message has a type, a length and a body. Only the first message of a connection has
 * no type.
 *
 * @returns {Counter}
 */
export function postgresStatements() {
  let rest = Buffer.alloc(0);
  let hasStarted = false;
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    let statements = 0;
    for (;;) {
      const typeLength = hasStarted ? 1 : 0;
      if (rest.length < HEADER_LENGTH) return statements;
      const length = typeLength + rest.readUInt32BE(typeLength);
      if (rest.length < length) return statements;
      if (hasStarted && [SIMPLE_QUERY, EXECUTE].includes(rest[0])) statements += 1;
      hasStarted = true;
      rest = rest.subarray(length);
    }
  };
}
