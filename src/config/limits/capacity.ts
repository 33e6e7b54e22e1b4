import { openFileLimit } from './file-limit.js';
import { heapLimitBytes, memoryLimitBytes } from './memory-limit.js';

const KIB = 1024;
const MIB = 1024 * KIB;

/** Resident memory and heap of the process before its first stream, as measured. */
const BASE_BYTES = 200 * MIB;
const BASE_HEAP_BYTES = 80 * MIB;
/** Four times the resident memory of a silent stream, which is what a stream takes whose text arrives in pieces. */
const STREAM_BYTES = 192 * KIB;
/** The same of the heap alone. */
const STREAM_HEAP_BYTES = 96 * KIB;
/** The other half is for the bodies of requests, for other answers, and for garbage. */
const SHARE_FOR_STREAMS = 0.5;
/** However little memory there is. */
const LEAST_STREAMS = 100;
/** Connections in addition to those of streams: requests of other kinds, and connections between two requests. */
const OTHER_CONNECTIONS = 1_000;
/** Of the open files: a stream has a socket to its client and one to an upstream. */
const SHARE_OF_FILES_FOR_STREAMS = 3 / 8;
const SHARE_OF_FILES_FOR_OTHERS = 1 / 8;

/** How many streams the memory and the open files of this process allow, where MAX_STREAMS is not set. */
export function defaultMaxStreams(
  memoryBytes = memoryLimitBytes(),
  heapBytes = heapLimitBytes(),
  openFiles = openFileLimit(),
): number {
  const byMemory = ((memoryBytes - BASE_BYTES) * SHARE_FOR_STREAMS) / STREAM_BYTES;
  const byHeap = ((heapBytes - BASE_HEAP_BYTES) * SHARE_FOR_STREAMS) / STREAM_HEAP_BYTES;
  const byFiles = openFiles * SHARE_OF_FILES_FOR_STREAMS;
  return Math.floor(Math.min(Math.max(LEAST_STREAMS, Math.min(byMemory, byHeap)), byFiles));
}

/** How many connections clients may have to a process that holds `maxStreams`. */
export function maxConnectionsFor(maxStreams: number, openFiles = openFileLimit()): number {
  return maxStreams + Math.floor(Math.min(OTHER_CONNECTIONS, openFiles * SHARE_OF_FILES_FOR_OTHERS));
}
