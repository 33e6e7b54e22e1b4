import type { TimePosition } from '../../database/queries/page-by-time.js';
import { invalidParameter } from './query.js';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;
const BASE64URL = /^[\w-]+$/;
const ISO_LENGTH = '2026-01-01T00:00:00.000Z'.length;
const UNUSABLE = /[\p{Cc}\p{Cs}]/u;

/** One page of a list, as the API sends it. */
export interface ListPage<T> {
  readonly data: readonly T[];
  /** The `cursor` of the next page. `null`: this is the last page. */
  readonly next_cursor: string | null;
}

/** @throws {ServiceError} `invalid_request` for a text that is not a number from 1 to 200. */
export function limitIn(text: string | undefined): number {
  if (text === undefined) return DEFAULT_LIMIT;
  const limit = Number(text);
  if (/^\d{1,3}$/.test(text) && limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw invalidParameter('limit', `must be a whole number from 1 to ${MAX_LIMIT}`);
}

/** Returns a page whose cursor holds the position after which the next page begins. */
export function pageOf<T>(data: readonly T[], next: readonly string[] | undefined): ListPage<T> {
  return { data, next_cursor: next === undefined ? null : cursorOf(next) };
}

/** As {@link pageOf}, for a list by time. */
export function pageByPosition<T>(data: readonly T[], next: TimePosition | undefined): ListPage<T> {
  return pageOf(data, next && [next.time, next.id]);
}

/**
 * Reads the position of a list by time.
 *
 * @throws {ServiceError} `invalid_request` for a text that is no cursor of such a list.
 */
export function positionIn(cursor: string | undefined): TimePosition | undefined {
  const [time = '', id = ''] = valuesIn(cursor, 2) ?? [];
  if (cursor === undefined) return undefined;
  // Other times do not sort as texts.
  if (time.length === ISO_LENGTH && !Number.isNaN(Date.parse(time))) return { time, id };
  throw invalidCursor();
}

/**
 * Reads the values that a cursor holds.
 *
 * @throws {ServiceError} `invalid_request` for a text that is no cursor with this number of values.
 */
export function valuesIn(cursor: string | undefined, count: number): readonly string[] | undefined {
  if (cursor === undefined) return undefined;
  const values = parsed(cursor);
  const isPosition = Array.isArray(values) && values.length === count && values.every(isUsable);
  if (!isPosition) throw invalidCursor();
  return values;
}

function cursorOf(values: readonly string[]): string {
  return Buffer.from(JSON.stringify(values)).toString('base64url');
}

function parsed(cursor: string): unknown {
  if (!BASE64URL.test(cursor)) return undefined;
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown;
  } catch {
    return undefined;
  }
}

function isUsable(value: unknown): value is string {
  return typeof value === 'string' && !UNUSABLE.test(value);
}

function invalidCursor() {
  return invalidParameter('cursor', 'must be the next_cursor of an earlier page');
}
