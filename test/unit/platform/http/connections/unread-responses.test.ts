import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ShedLoad } from '../../../../../src/platform/common/shed-load.js';
import type { Config } from '../../../../../src/platform/config/config.js';
import type { BodyClients } from '../../../../../src/platform/http/body/bodies-in-flight.js';
import type { ClientConnection } from '../../../../../src/platform/http/connections/client-connection.js';
import type { ClientConnections } from '../../../../../src/platform/http/connections/client-connections.js';
import { UnreadResponses } from '../../../../../src/platform/http/connections/unread-responses.js';

const CHECK_MS = 1_000;
const LIMIT_MS = 10_000;
const MIB = 1024 * 1024;

/** A connection whose client has not read so many bytes of its answer. */
class Connection {
  response: { req?: object } | undefined = {};
  readonly socket = { writableLength: 0, bytesWritten: 0, resetAndDestroy: vi.fn() };

  /** @param client the account or network. */
  constructor(unreadBytes: number, client = 'someone') {
    this.response = { req: { context: {}, client } };
    this.socket.writableLength = this.socket.bytesWritten = unreadBytes;
  }

  /** The client reads, and the answer goes on as fast. */
  read(bytes: number): void {
    this.socket.bytesWritten += bytes;
  }

  get isCut(): boolean {
    return this.socket.resetAndDestroy.mock.calls.length > 0;
  }
}

let open: Connection[];
let shed: ShedLoad;
let answers: UnreadResponses;

beforeEach(() => {
  vi.useFakeTimers();
  open = [];
  shed = new ShedLoad();
  const connections = { all: () => open.filter(({ isCut }) => !isCut) as unknown as ClientConnection[] };
  answers = new UnreadResponses(
    { unreadResponseMs: LIMIT_MS } as Config,
    connections as unknown as ClientConnections,
    { clientOf: ({ client }: { client: string }) => ({ key: client }) } as unknown as BodyClients,
    shed,
  );
  answers.onApplicationBootstrap();
});
afterEach(() => {
  answers.onApplicationShutdown();
  expect(vi.getTimerCount()).toBe(0);
});

const cutOff = () => new Map(shed.counts).get('unread_answer');

describe('answers that are not read', () => {
  it('have their time again when 64 KB of them are read', () => {
    const [slow, slower] = [new Connection(MIB), new Connection(MIB)];
    open.push(slow, slower);
    vi.advanceTimersByTime(LIMIT_MS);
    slow.read(64 * 1024);
    slower.read(64 * 1024 - 1);
    vi.advanceTimersByTime(2 * CHECK_MS);
    expect([slow.isCut, slower.isCut]).toEqual([false, true]);
    vi.advanceTimersByTime(LIMIT_MS);
    expect([slow.isCut, cutOff()]).toEqual([true, 2]);
  });

  it('have a time of their own each', () => {
    const connection = new Connection(1);
    open.push(connection);
    vi.advanceTimersByTime(LIMIT_MS);
    connection.response = {};
    vi.advanceTimersByTime(LIMIT_MS);
    expect(connection.isCut).toBe(false);
  });

  it('above 64 MiB together are cut, the oldest first, and no more than necessary', () => {
    const oldest = new Connection(20 * MIB);
    open.push(oldest);
    vi.advanceTimersByTime(CHECK_MS);
    const others = [new Connection(20 * MIB), new Connection(20 * MIB)];
    open.push(...others);
    vi.advanceTimersByTime(CHECK_MS);
    expect(cutOff()).toBe(0);
    open.push(new Connection(20 * MIB));
    vi.advanceTimersByTime(CHECK_MS);
    expect([open.map(({ isCut }) => isCut), cutOff()]).toEqual([[true, false, false, false], 1]);
    open.push(new Connection(60 * MIB));
    vi.advanceTimersByTime(CHECK_MS);
    expect([open.map(({ isCut }) => isCut), cutOff()]).toEqual([[true, true, true, true, false], 4]);
  });

  it('above 64 MiB together are cut from the client that has the most, regardless of age', () => {
    const honest = new Connection(20 * MIB, 'honest');
    open.push(honest);
    vi.advanceTimersByTime(CHECK_MS);
    const greedy = Array.from({ length: 5 }, () => new Connection(15 * MIB, 'greedy'));
    open.push(...greedy);
    vi.advanceTimersByTime(CHECK_MS);
    expect([honest.isCut, greedy.filter(({ isCut }) => isCut).length]).toEqual([false, 3]);
  });
});
