import { Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions.js';
import { withTimeout, destroyAfter } from '../../common/timers/timeouts.js';
import { codeOf, DatabaseError } from '../database-error.js';
import { MIGRATIONS, runMigrations } from '../migrations/all-migrations.js';
import { ClientWithQueryTimeout, PoolConnections } from './pool-clients.js';
import { connect as connectSocket } from 'node:net';

/** What a server does with the first bytes of a client. */
type ServerKind = 'postgres' | 'other' | 'silent' | 'unreachable';

/** How long the server may take to answer the first bytes of {@link serverKind}. */
const FIRST_ANSWER_TIMEOUT_MS = 1000;
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
    const socket = connectSocket({ host, port: port === '' ? DEFAULT_PORT : Number(port) }, () => {
      answer = '';
      socket.write(question);
    });
    destroyAfter(FIRST_ANSWER_TIMEOUT_MS, socket);
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

/** The number of connections for everything except credentials: reports, pages, accounts and the ledger. */
const POOL_SIZE = 6;
/**
 * The number of connections for looking up and watching credentials. The probe needs one more, so a process has 10 in
 * total.
 */
const CREDENTIAL_POOL_SIZE = 3;
/** The time limit to open a connection, or to get a free connection from the pool. */
const CONNECT_TIMEOUT_MS = 5000;
/** After this time, the start finds out whether the server is PostgreSQL. */
const SLOW_CONNECT_MS = 1000;
/** The server cancels a statement after this time. */
const STATEMENT_TIMEOUT_MS = 10_000;
/**
 * The server ends a transaction whose client is silent for this time. A client that vanished without closing its connection would keep
 * its locks until the TCP of the server notices, by default after two hours.
 */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 10_000;
/**
 * The client stops waiting after this time, for example if the server or the network fails without closing the connection.
 */
const QUERY_TIMEOUT_MS = 15_000;
/**
 * The same three limits for credentials. The time limit for an answer about a credential is one second, see `queryInTime`.
 */
const CREDENTIAL_CONNECT_TIMEOUT_MS = 1500;
const CREDENTIAL_STATEMENT_TIMEOUT_MS = 1000;
const CREDENTIAL_QUERY_TIMEOUT_MS = 1500;
/** Connections are replaced after this time, so that dead connections are removed and a failover is noticed. */
const CONNECTION_LIFETIME_SECONDS = 300;
/** The key of the advisory lock. Any number works if no other program uses the same number in this database. */
const MIGRATION_LOCK = 2_094_771_463;
/** PgBouncer answers with this code when it refuses a startup parameter. */
const PROTOCOL_VIOLATION = '08P01';

export function postgresOptions(url: string): PostgresDataSourceOptions {
  return {
    type: 'postgres',
    url,
    applicationName: 'chat-streaming-service',
    migrations: MIGRATIONS,
    logging: false,
    installExtensions: false,
    poolSize: POOL_SIZE,
    connectTimeoutMS: CONNECT_TIMEOUT_MS,
    extra: {
      Client: new PoolConnections().Client,
      keepAlive: true,
      statement_timeout: STATEMENT_TIMEOUT_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
      query_timeout: QUERY_TIMEOUT_MS,
      maxLifetimeSeconds: CONNECTION_LIFETIME_SECONDS,
    },
  };
}

/** @param Client the class of the connections. */
export function credentialOptions(
  options: PostgresDataSourceOptions,
  Client: typeof ClientWithQueryTimeout,
): PostgresDataSourceOptions {
  return {
    ...options,
    poolSize: CREDENTIAL_POOL_SIZE,
    connectTimeoutMS: CREDENTIAL_CONNECT_TIMEOUT_MS,
    extra: {
      ...(options.extra as object),
      Client,
      // A pooler that refuses the parameter for the main connections refuses it here, too.
      statement_timeout: hasStatementTimeout(options) ? CREDENTIAL_STATEMENT_TIMEOUT_MS : undefined,
      query_timeout: CREDENTIAL_QUERY_TIMEOUT_MS,
    },
  };
}

/**
 * Runs pending migrations and opens the database.
 *
 * @throws {DatabaseError} if the database cannot be used.
 */
export async function openPostgres(options: PostgresDataSourceOptions): Promise<DataSource> {
  try {
    await migrate(options);
    return await connect(options);
  } catch (error) {
    const { host, pathname } = new URL(options.url ?? '');
    throw new DatabaseError(`The database postgres://${host}${pathname} cannot be used: ${reasonOf(error)}.`, {
      cause: error,
    });
  }
}

/**
 * Opens the first connections. The driver waits for servers of other protocols until its time limit, so a start that takes long
 * asks the server itself.
 */
async function initialize(options: PostgresDataSourceOptions): Promise<DataSource> {
  const opening = new DataSource(options).initialize();
  const slow = new Error('The server is slow.');
  try {
    return await withTimeout(opening, SLOW_CONNECT_MS, () => slow);
  } catch (error) {
    if (error !== slow) throw error;
  }
  const url = new URL(options.url ?? '');
  // Parameters can name another address, or a socket in the file system.
  const isAtHost = !url.searchParams.has('host') && !url.searchParams.has('port');
  const kind = isAtHost ? await serverKind(url) : 'unreachable';
  if (kind === 'other') {
    opening.catch(() => undefined);
    throw new Error(OTHER_SERVER);
  }
  return await opening.catch((error: unknown) => {
    throw kind === 'silent' && reasonOf(error) === NO_ANSWER ? new Error(SILENT_SERVER, { cause: error }) : error;
  });
}

/**
 * Connects. PgBouncer in transaction mode refuses time limits as startup parameters, because its clients share the connections to the
 * server. The service then relies on its own time limit, which closes the connection.
 */
async function connect(options: PostgresDataSourceOptions): Promise<DataSource> {
  try {
    return await new DataSource(options).initialize();
  } catch (error) {
    if (!isRefusedParameter(error)) throw error;
    new Logger('Database').log(
      'The pooler in front of PostgreSQL refuses time limits. Set them for the role: ' +
        `ALTER ROLE … SET statement_timeout = '${STATEMENT_TIMEOUT_MS / 1000}s', and ` +
        `ALTER ROLE … SET idle_in_transaction_session_timeout = '${IDLE_IN_TRANSACTION_TIMEOUT_MS / 1000}s'`,
    );
    return new DataSource({
      ...options,
      extra: {
        ...(options.extra as object),
        statement_timeout: undefined,
        idle_in_transaction_session_timeout: undefined,
      },
    }).initialize();
  }
}

function isRefusedParameter(error: unknown): boolean {
  return (
    codeOf(error) === PROTOCOL_VIOLATION && /statement_timeout|idle_in_transaction_session_timeout/.test(String(error))
  );
}

function hasStatementTimeout({ extra }: PostgresDataSourceOptions): boolean {
  return (extra as { readonly statement_timeout?: number }).statement_timeout !== undefined;
}

/**
 * Runs the migrations over a separate connection without the time limits of queries. A migration can take longer than a
 * query, and so can the wait for the migration of another replica.
 */
async function migrate(options: PostgresDataSourceOptions): Promise<void> {
  const dataSource = await initialize({ ...options, poolSize: 1, extra: { Client: ClientWithQueryTimeout } });
  const queryRunner = dataSource.createQueryRunner();
  try {
    await queryRunner.startTransaction();
    await queryRunner.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    await runMigrations(dataSource, queryRunner);
    await queryRunner.commitTransaction();
  } finally {
    await queryRunner.release();
    await dataSource.destroy();
  }
}

const NO_ANSWER = 'no PostgreSQL server has answered in time';
const SILENT_SERVER =
  'a server accepts connections at this address, but it does not answer: check the port, and whether the server hangs';
const OTHER_SERVER = 'the server at this address is not PostgreSQL: check the port';

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'no server listens at this address',
  ECONNRESET: 'the connection was closed',
  ENOTFOUND: 'the host does not exist',
  EAI_AGAIN: 'the host name cannot be looked up',
  ETIMEDOUT: NO_ANSWER,
  EHOSTUNREACH: 'the host is unreachable',
  ENETUNREACH: 'the network is unreachable',
  '28P01': 'the user or the password is incorrect',
  '28000': 'the user is not allowed to sign in',
  '3D000': 'the database does not exist',
  '3F000': 'there is no schema in which to create tables',
  '42501': 'the user is not allowed to create tables',
  '53300': 'the server has too many connections',
  '55P03': 'a backup or a long query locks a table that must change: try again when the backup or query ends',
  '57P03': 'the server is starting up',
};

/** Reasons by a part of the message, for errors without a code of their own. */
const REASONS_BY_MESSAGE: readonly (readonly [RegExp, string])[] = [
  [
    /no encryption/,
    'the server accepts only connections with TLS: add ?sslmode=verify-full, and sslrootcert for a private CA',
  ],
  [
    /requires a valid client certificate|certificate authentication failed/,
    'the server has not accepted the client certificate: add sslcert and sslkey, with a certificate for this user',
  ],
  [/does not support SSL/, 'the server has no TLS: remove sslmode, or set it to disable'],
  [/timeout/i, NO_ANSWER],
  [
    /self-signed certificate|unable to (?:get|verify)/,
    'the certificate of the server is not trusted: sslrootcert must name the certificate of the CA that has signed it',
  ],
  [/altnames|IP: .* is not in the cert/, 'the certificate of the server is for another host'],
  [/certificate has expired/, 'the certificate of the server has expired'],
];

function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const byMessage = REASONS_BY_MESSAGE.find(([pattern]) => pattern.test(message));
  return byMessage?.[1] ?? REASONS[codeOf(error) ?? ''] ?? message;
}
