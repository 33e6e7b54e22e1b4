import { openFileLimit } from './file-limit.js';
import { heapLimitBytes, memoryLimitBytes } from './memory-limit.js';

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
