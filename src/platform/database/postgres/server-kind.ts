import { connect } from 'node:net';
import { destroyAfter } from '../../common/timers/timeouts.js';

/** What a server does with the first bytes of a client. */
type ServerKind = 'postgres' | 'other' | 'silent' | 'unreachable';

const TIMEOUT_MS = 1000;
const DEFAULT_PORT = 5432;
/** The request for TLS, with which clients of PostgreSQL may begin. */
const TLS_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
/** `S` or `N` answers the request for TLS, and `E` with a length below 16 MB begins an error. */
const ANSWER_OF_POSTGRES = /^[SN]?(?:E\0|$)/;
/** Redis answers the command, and other servers with a protocol of lines refuse it. PostgreSQL closes the connection. */
const LINES = Buffer.from('\r\nPING\r\n\r\n');

/** Finds out how the server at the host and the port of the URL answers. */
export async function serverKind(url: URL): Promise<ServerKind> {
  const answer = await firstAnswer(url, TLS_REQUEST);
  if (answer === undefined) return 'unreachable';
  if (answer !== '') return ANSWER_OF_POSTGRES.test(answer) ? 'postgres' : 'other';
  return (await firstAnswer(url, LINES)) ? 'other' : 'silent';
}

/** @returns the first bytes of the answer, an empty text if there is none, or `undefined` without a connection. */
function firstAnswer({ hostname, port }: URL, question: Buffer): Promise<string | undefined> {
  return new Promise((resolve) => {
    let answer: string | undefined;
    // An IPv6 address is in brackets.
    const host = hostname.replace(/^\[(.*)\]$/, '$1');
    const socket = connect({ host, port: port === '' ? DEFAULT_PORT : Number(port) }, () => {
      answer = '';
      socket.write(question);
    });
    destroyAfter(TIMEOUT_MS, socket);
    socket.once('data', (data) => {
      answer = data.toString('latin1');
      socket.destroy();
    });
    socket.on('error', () => undefined);
    socket.once('close', () => {
      resolve(answer);
    });
  });
}
