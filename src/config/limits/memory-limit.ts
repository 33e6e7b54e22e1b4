import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';

/** Injection token: bytes of bodies that this process may hold at the same time. */
export const MOST_BODY_BYTES = Symbol('MOST_BODY_BYTES');

/**
 * The memory that this process may use, in bytes: the limit of its container (cgroup v2 `memory.max` and `memory.high`, or
 * cgroup v1 `memory.limit_in_bytes`), or all memory of the machine where there is no lower limit.
 *
 * @param containerBytes the limit as Node reads it: 0 when it is unknown, a huge number when there is none.
 */
export function memoryLimitBytes(containerBytes = process.constrainedMemory(), machineBytes = totalmem()): number {
  return containerBytes > 0 ? Math.min(containerBytes, machineBytes) : machineBytes;
}

/**
 * The memory for JavaScript objects and strings, in bytes: the limit of V8's heap (`--max-old-space-size`, by default derived
 * from the memory by Node), and never more than {@link memoryLimitBytes}. Buffers are outside of the heap.
 */
export function heapLimitBytes(
  heapBytes = getHeapStatistics().heap_size_limit,
  processBytes = memoryLimitBytes(),
): number {
  return Math.min(heapBytes, processBytes);
}
