import type { BegunStream } from '../record/usage-record.js';
import { UnstorableData } from './unstorable-data.js';
import type { AbandonedBatch } from './usage-store.js';

/** @throws {UnstorableData} for values that JSON does not support, because a module of a team may be written without types. */
export function writeStreams(streams: readonly BegunStream[]): string {
  try {
    return JSON.stringify(streams);
  } catch (error) {
    throw new UnstorableData('The intent of a stream cannot be written as JSON.', { cause: error });
  }
}

/** Reads the text of {@link writeStreams}. The members of each stream are checked later, when its record is written. */
export function readStreams(text: string): Pick<AbandonedBatch, 'streams' | 'unreadable'> {
  try {
    const streams: unknown = JSON.parse(text);
    if (Array.isArray(streams) && streams.every(isObject)) return { streams: streams as unknown as BegunStream[] };
  } catch {
    // The text is damaged.
  }
  return { streams: [], unreadable: text };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
