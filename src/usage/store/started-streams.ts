import { isObject } from '../../platform/common/json/json-values.js';
import type { StartedStream } from '../record/usage-record.js';
import { UnstorableData } from './ledger-text.js';

/** Streams that began at about the same time. A batch is stored until all its streams are over. */
export interface IntentBatch {
  readonly id: string;
  readonly streams: readonly StartedStream[];
}

/** An {@link IntentBatch} of a replica that counts as dead. */
export interface AbandonedBatch extends IntentBatch {
  /** The stored text, if the streams cannot be read from it. */
  readonly unreadable?: string | undefined;
}

/** @throws {UnstorableData} for values that JSON does not support, because a module of a team may be written without types. */
export function writeStreams(streams: readonly StartedStream[]): string {
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
    if (Array.isArray(streams) && streams.every(isObject)) return { streams: streams as unknown as StartedStream[] };
  } catch {
    // The text is damaged.
  }
  return { streams: [], unreadable: text };
}
