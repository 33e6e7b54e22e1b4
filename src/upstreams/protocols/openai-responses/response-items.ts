import { jsonSource } from '../../../platform/common/json/json-source.js';
import type { StreamPart } from '../../contract/stream-part.js';
import { NOTHING, PROGRESS } from '../shared/event-parts.js';
import { isJsonObject, isText, parseJsonObject, type JsonObject } from '../shared/json-object.js';
import { newToolCallId } from '../shared/tool-calls.js';
import {
  contentsOf,
  hasContentOf,
  isOther,
  isSameJson,
  isSameText,
  newItem,
  reasoningText,
  restOfMessage,
  restOfText,
  withText,
  type Item,
} from './response-item.js';
import { reasoningState } from './responses-input.js';

const MESSAGE = { type: 'message' };
const REASONING = { type: 'reasoning' };

/**
 * Holds the items of one response. Servers differ in what they send piece by piece, and what only at the end of an item or of the
 * response. So each method returns what is missing so far. All methods throw if the pieces of a call do not fit together.
 */
export class ResponseItems {
  /** The last item at each position. */
  private readonly items = new Map<unknown, Item>();
  private readonly all: Item[] = [];
  private readonly callIds = new Set<string>();

  addText(place: JsonObject, delta: unknown): readonly StreamPart[] {
    return isText(delta) ? withText(this.of(place, MESSAGE), place.content_index ?? 0, delta) : NOTHING;
  }

  finishText(place: JsonObject, text: unknown): readonly StreamPart[] {
    const item = this.of(place, MESSAGE);
    const isComplete = isText(text) && isSameText(text, item.openText);
    const parts = isComplete ? NOTHING : restOfText(item, place.content_index ?? 0, text);
    item.openText = '';
    return parts.length === 0 ? PROGRESS : parts;
  }

  addReasoning(place: JsonObject, delta: unknown): readonly StreamPart[] {
    if (!isText(delta)) return PROGRESS;
    const item = this.of(place, REASONING);
    const { summary_index: part } = place;
    const isNext = item.reasoning !== '' && item.reasoningPart !== part;
    const text = isNext ? `\n\n${delta}` : delta;
    item.reasoning += text;
    item.reasoningPart = part;
    return [{ type: 'reasoning', text }];
  }

  begin(place: JsonObject, sent: unknown): readonly StreamPart[] {
    if (!isJsonObject(sent) || sent.type !== 'function_call') return PROGRESS;
    const item = this.of(place, sent);
    const parts = [...this.start(item, sent), ...this.rest(item, sent.arguments)];
    return parts.length === 0 ? PROGRESS : parts;
  }

  addArguments(place: JsonObject, delta: unknown): readonly StreamPart[] {
    if (!isText(delta)) return PROGRESS;
    return this.append(this.ofArguments(place), delta);
  }

  finishArguments(place: JsonObject, json: unknown): readonly StreamPart[] {
    const parts = this.rest(this.ofArguments(place), json);
    return parts.length === 0 ? PROGRESS : parts;
  }

  /** Returns what is missing of an item that is finished. */
  finish(place: JsonObject, sent: unknown): readonly StreamPart[] {
    return isJsonObject(sent) ? this.finishItem(this.of(place, sent, true), sent) : PROGRESS;
  }

  private finishItem(item: Item, sent: JsonObject): readonly StreamPart[] {
    if (item.isFinished) {
      if (item.call !== undefined) this.rest(item, sent.arguments);
      return PROGRESS;
    }
    const parts = this.missing(item, sent);
    item.isFinished = sent.status !== 'incomplete';
    return parts.length === 0 ? PROGRESS : parts;
  }

  /**
   * Returns what only the whole response has.
   *
   * @param isWhole whether the provider has ended the response itself. Otherwise the last call may be cut.
   */
  late(output: unknown, isWhole: boolean): StreamPart[] {
    const found = new Set<Item>();
    const parts = contentsOf(output).flatMap((sent, index) => {
      const isCut = !isWhole && sent.status === 'in_progress';
      const item = this.known(sent, index, found);
      found.add(item);
      return this.finishItem(item, isCut ? { ...sent, status: 'incomplete' } : sent);
    });
    if (this.all.some(({ call, json }) => call === undefined && json !== '')) {
      throw new Error('Arguments belong to no call.');
    }
    if (isWhole) parts.push(...this.endsOfWholeCalls());
    return parts.filter(({ type }) => type !== 'progress');
  }

  /** A server may leave out the end of an item. Its call is complete if its arguments are. */
  private endsOfWholeCalls(): readonly StreamPart[] {
    return this.all.flatMap(({ call, json, isFinished }): readonly StreamPart[] =>
      call === undefined || isFinished || parseJsonObject(json) === undefined
        ? NOTHING
        : [{ type: 'tool_call_end', id: call }],
    );
  }

  private missing(item: Item, sent: JsonObject): readonly StreamPart[] {
    switch (sent.type) {
      case 'message':
        return restOfMessage(item, contentsOf(sent.content));
      case 'reasoning':
        return this.endOfReasoning(item, sent);
      case 'function_call':
        return this.endOfCall(item, sent);
      default:
        return NOTHING;
    }
  }

  private endOfReasoning({ reasoning }: Item, sent: JsonObject): readonly StreamPart[] {
    const text = reasoning === '' ? reasoningText(sent) : '';
    const encrypted = reasoningState(sent);
    if (encrypted !== undefined) return [{ type: 'reasoning', text, encrypted }];
    return text === '' ? NOTHING : [{ type: 'reasoning', text }];
  }

  private endOfCall(item: Item, sent: JsonObject): readonly StreamPart[] {
    const parts = [...this.start(item, sent), ...this.rest(item, sent.arguments)];
    if (item.call === undefined || sent.status === 'incomplete') return parts;
    return [...parts, { type: 'tool_call_end', id: item.call }];
  }

  /** Begins a call as soon as its name is known. */
  private start(item: Item, { call_id: id, name }: JsonObject): readonly StreamPart[] {
    if (item.call !== undefined || !isText(name)) return NOTHING;
    const call = isText(id) && !this.callIds.has(id) ? id : newToolCallId();
    item.call = call;
    item.callId = id;
    item.name = name;
    this.callIds.add(call);
    const start: StreamPart = { type: 'tool_call_start', id: call, name, index: this.callIds.size - 1 };
    return item.json === '' ? [start] : [start, { type: 'tool_call_delta', id: call, json: item.json }];
  }

  private append(item: Item, json: string): readonly StreamPart[] {
    if (item.isFinished) throw new Error('Arguments belong to a call that has ended.');
    item.json += json;
    return item.call === undefined ? PROGRESS : [{ type: 'tool_call_delta', id: item.call, json }];
  }

  /** Returns the part of the whole arguments that has not arrived. Some servers send an object in place of its text. */
  private rest(item: Item, sent: unknown): readonly StreamPart[] {
    const json = isJsonObject(sent) ? jsonSource(sent) : sent;
    if (!isText(json) || json === item.json) return NOTHING;
    if (json.startsWith(item.json)) return this.append(item, json.slice(item.json.length));
    if (isSameJson(json, item.json)) return NOTHING;
    throw new Error('The arguments of a call differ from their pieces.');
  }

  /**
   * Finds the item of an event, or adds it: by its id, or by the id of its call if it has no other, and otherwise by its position, because
   * some servers send another id of the item in each event. Other servers give one position to several items. The end of an item may
   * have another position than the item: then its content decides.
   */
  private of(place: JsonObject, sent: JsonObject = {}, isEnd = false): Item {
    const { output_index: index, item_id: ofEvent } = place;
    const { type, call_id: call } = sent;
    const id = sent.id ?? ofEvent;
    const known = this.find(index, id ?? call);
    const found = known !== undefined && isOther(known, sent) ? undefined : known;
    const isOpen = (item: Item) => !item.isFinished && hasContentOf(item, sent);
    const item = found ?? (isEnd ? this.all.find(isOpen) : undefined) ?? this.add(index ?? id);
    item.id ??= id;
    item.type ??= type;
    return item;
  }

  /** Finds the item of arguments. Those of an unknown item belong to the only open call. */
  private ofArguments(place: JsonObject): Item {
    const known = this.find(place.output_index, place.item_id);
    const open = known === undefined ? this.all.filter(({ call, isFinished }) => call && !isFinished) : [];
    return (open.length === 1 ? open[0] : known) ?? this.of(place);
  }

  private find(index: unknown, id: unknown): Item | undefined {
    return this.withId(this.all, id) ?? this.items.get(index ?? id);
  }

  /** Some servers name a call by its `call_id` alone. */
  private withId(items: readonly Item[], id: unknown): Item | undefined {
    if (!isText(id)) return undefined;
    return items.findLast((item) => item.id === id) ?? items.findLast(({ callId }) => callId === id);
  }

  private add(key: unknown): Item {
    const item = newItem();
    this.items.set(key, item);
    this.all.push(item);
    return item;
  }

  /**
   * Finds an item of the whole response, which may lack some items, by what the provider has sent before: by its ids, and otherwise by
   * its content or its position, because some servers make other ids for the whole response.
   */
  private known(sent: JsonObject, index: number, found: ReadonlySet<Item>): Item {
    const others = this.all.filter((item) => !found.has(item));
    const same = this.withId(this.all, sent.id) ?? this.withId(others, sent.call_id);
    const atPosition = others.find((item) => item === this.items.get(index) && (item.type ?? sent.type) === sent.type);
    return same ?? others.find((item) => hasContentOf(item, sent)) ?? atPosition ?? newItem();
  }
}
