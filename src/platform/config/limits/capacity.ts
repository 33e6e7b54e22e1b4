import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';

/** The file in which Linux lists the limits of a process. */
const LIMITS = '/proc/self/limits';

/** Returns how many files and sockets this process may have open at once, or `Infinity` if the limit is unknown. */
export function openFileLimit(limits = read()): number {
  const soft = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
  return soft === undefined ? Infinity : Number(soft);
}

function read(): string {
  try {
    return readFileSync(LIMITS, 'utf8');
  } catch {
    return '';
  }
}

/** Injection token: the maximum number of body bytes that this process holds at the same time. */
export const MAX_BODY_BYTES = Symbol('MAX_BODY_BYTES');

/**
 * Returns the memory that this process may use, in bytes: the limit of its container (cgroup v2 `memory.max` and
 * `memory.high`, or cgroup v1 `memory.limit_in_bytes`), or the whole memory of the machine if the container has no lower
 * limit.
 *
 * @param containerBytes the limit as Node reads it: 0 if the limit is unknown, a huge number if there is no limit.
 */
export function memoryLimitBytes(containerBytes = process.constrainedMemory(), machineBytes = totalmem()): number {
  return containerBytes > 0 ? Math.min(containerBytes, machineBytes) : machineBytes;
}

/**
 * Returns the memory for JavaScript objects and strings, in bytes: the limit of V8's heap (`--max-old-space-size`; by
 * default, Node derives it from the memory), but never more than {@link memoryLimitBytes}. Buffers are outside the heap.
 */
export function heapLimitBytes(
  heapBytes = getHeapStatistics().heap_size_limit,
  processBytes = memoryLimitBytes(),
): number {
  return Math.min(heapBytes, processBytes);
}

const KIB = 1024;
const MIB = 1024 * KIB;

/** The measured resident memory and heap of the process before its first stream. */
const BASE_BYTES = 200 * MIB;
const BASE_HEAP_BYTES = 80 * MIB;
/** The memory of one stream whose text arrives in pieces. It is four times the resident memory of a silent stream. */
const STREAM_BYTES = 192 * KIB;
/** The same for the heap only. */
const STREAM_HEAP_BYTES = 96 * KIB;
/** The share of the memory for streams. The other half is for request bodies, other answers and garbage. */
const SHARE_FOR_STREAMS = 0.5;
/** The minimum number of streams, even if there is little memory. The limit of open files can still reduce this number. */
const MIN_STREAMS = 100;
/** Connections in addition to the connections of streams: other requests, and connections between two requests. */
const OTHER_CONNECTIONS = 1_000;
/** The number of streams per open file. A stream needs one socket to its client and one socket to an upstream. */
const SHARE_OF_FILES_FOR_STREAMS = 3 / 8;
const SHARE_OF_FILES_FOR_OTHERS = 1 / 8;

/** Returns how many streams the memory and the open files of this process allow. This is the default of MAX_STREAMS. */
export function defaultMaxStreams(
  memoryBytes = memoryLimitBytes(),
  heapBytes = heapLimitBytes(),
  openFiles = openFileLimit(),
): number {
  const byMemory = ((memoryBytes - BASE_BYTES) * SHARE_FOR_STREAMS) / STREAM_BYTES;
  const byHeap = ((heapBytes - BASE_HEAP_BYTES) * SHARE_FOR_STREAMS) / STREAM_HEAP_BYTES;
  const byFiles = openFiles * SHARE_OF_FILES_FOR_STREAMS;
  return Math.floor(Math.min(Math.max(MIN_STREAMS, Math.min(byMemory, byHeap)), byFiles));
}

/** Returns how many client connections a process that holds `maxStreams` may have. */
export function maxConnectionsFor(maxStreams: number, openFiles = openFileLimit()): number {
  return maxStreams + Math.floor(Math.min(OTHER_CONNECTIONS, openFiles * SHARE_OF_FILES_FOR_OTHERS));
}
