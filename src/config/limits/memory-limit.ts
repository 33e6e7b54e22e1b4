import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';

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
