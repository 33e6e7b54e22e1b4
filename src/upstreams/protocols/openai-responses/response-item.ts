import type { StreamPart } from '../../contract/stream-part.js';
import { NOTHING } from '../shared/event-parts.js';
import { isJsonObject, isText, type JsonObject } from '../shared/json-object.js';

/** What has arrived of one item of the output. */
export interface Item {
  /** The type and the id as the provider has sent them. */
  type: unknown;
  id: unknown;
  /** The texts of a message, by the index of their content. */
  readonly texts: Map<unknown, string>;
  /** The text since the last content that has ended. */
  openText: string;
  /** The reasoning so far. */
  reasoning: string;
  /** The index of the part of the summary that the last piece of the reasoning belonged to. */
  reasoningPart: unknown;
  /** The name of a call. */
  name: unknown;
  /** The arguments of a call so far. */
  json: string;
  /** The id of the parts of a call. `undefined`: the call has not begun, because its name has not arrived. */
  call: string | undefined;
  /** The id of a call as the provider has sent it. */
  callId: unknown;
  isFinished: boolean;
}

export function newItem(): Item {
  return {
    ...{ type: undefined, id: undefined, texts: new Map<unknown, string>(), openText: '', reasoning: '' },
    ...{ reasoningPart: undefined, name: undefined, json: '', call: undefined, callId: undefined, isFinished: false },
  };
}

export function withText(item: Item, index: unknown, text: string): readonly StreamPart[] {
  item.texts.set(index, (item.texts.get(index) ?? '') + text);
  item.openText += text;
  return [{ type: 'text', text }];
}

/** Whether an event is about another item than the one that was at its position. */
export function isOther(item: Item, { call_id: call, type }: JsonObject): boolean {
  if (isText(type) && isText(item.type) && type !== item.type) return true;
  return isText(call) && isText(item.callId) && call !== item.callId;
}

/** Whether an item of the whole response has the content of an item that has arrived. */
export function hasContentOf({ texts, reasoning, name, json }: Item, sent: JsonObject): boolean {
  switch (sent.type) {
    case 'message':
      return isSameText(contentsOf(sent.content).map(textOf).filter(isText).join(''), [...texts.values()].join(''));
    case 'reasoning':
      return isSameText(reasoningText(sent), reasoning);
    default:
      return isText(name) && name === sent.name && isText(sent.arguments) && isSameJson(sent.arguments, json);
  }
}

export function restOfMessage(item: Item, contents: readonly JsonObject[]): readonly StreamPart[] {
  const texts = contents.map(textOf);
  if (isSameText(texts.filter(isText).join(''), [...item.texts.values()].join(''))) return NOTHING;
  return texts.flatMap((text, index) => restOfText(item, index, text));
}

function textOf({ text, refusal }: JsonObject): unknown {
  return text ?? refusal;
}

/** Whether a whole text has arrived. Some servers trim the whole text. */
export function isSameText(whole: string, arrived: string): boolean {
  return arrived !== '' && whole.trim() === arrived.trim();
}

export function reasoningText({ summary, content }: JsonObject): string {
  const shown = [summary, content].map((texts) => contentsOf(texts).map(textOf).filter(isText));
  return (shown.find(({ length }) => length > 0) ?? []).join('\n\n');
}

/** Returns the part of the whole text that has not arrived. Some servers trim the whole text, or give each content the same index. */
export function restOfText(item: Item, index: unknown, text: unknown): readonly StreamPart[] {
  const before = item.texts.get(index) ?? '';
  if (!isText(text) || text === before) return NOTHING;
  if (text.startsWith(before)) return withText(item, index, text.slice(before.length));
  if (!before.trim().endsWith(text.trim())) throw new Error('The text of a message differs from its pieces.');
  return NOTHING;
}

export function contentsOf(contents: unknown): readonly JsonObject[] {
  return Array.isArray(contents) ? contents.filter(isJsonObject) : [];
}

/** Whether two texts are the same JSON, apart from white space. */
export function isSameJson(one: string, other: string): boolean {
  if (one === other) return true;
  try {
    return JSON.stringify(JSON.parse(one)) === JSON.stringify(JSON.parse(other));
  } catch {
    return false;
  }
}
