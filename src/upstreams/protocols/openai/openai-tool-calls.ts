import { jsonSource } from '../../../platform/common/json/json-source.js';
import { providerFailure, type ProviderFailure } from '../../contract/provider-failure.js';
import type { StreamPart } from '../../contract/stream-part.js';
import { isJsonObject, isText, type JsonObject } from '../shared/json-object.js';
import { JsonEnd, newToolCallId } from '../shared/tool-calls.js';

/** One piece of a call, as the provider sends it. What is missing, `null` or empty is `undefined`. */
interface Piece {
  readonly index: number | undefined;
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly json: string;
  readonly signature: string | undefined;
}

class Call {
  name: string | undefined;
  /** The arguments so far. */
  json = '';
  readonly end = new JsonEnd();
  /** The id of the parts. `undefined`: the name has not arrived yet, so the call has not begun. */
  partId: string | undefined;
  isEnded = false;
  /** Whether an earlier piece with this index went to another call. Without arguments, this call may have lost them. */
  mayLackArguments = false;

  constructor(
    readonly index: number | undefined,
    public id: string | undefined,
  ) {}

  /** Whether the arguments can take more. */
  get isOpen(): boolean {
    return !this.end.isReached && !this.isEnded;
  }

  /** Whether a piece can belong to the call. A piece that names another tool, or the same one at another index, is another call. */
  takes({ index, id, name, json }: Piece): boolean {
    if (json.trim() !== '' && !this.isOpen) return false;
    if (name !== undefined && this.name !== undefined) {
      const hasOtherId = id !== undefined && this.id !== undefined && id !== this.id;
      const hasOtherIndex = index !== undefined && this.index !== undefined && index !== this.index;
      return name === this.name && !hasOtherId && !hasOtherIndex;
    }
    // Some servers make another id for each piece. An id alone announces a call.
    return id === undefined || this.id === undefined || id === this.id || json !== '';
  }

  /** Whether a piece repeats the whole call. Some servers do this at the end of the answer. */
  isRepeatedBy({ index, id, json }: Piece): boolean {
    return id !== undefined && id === this.id && (index ?? this.index) === this.index && json === this.json;
  }
}

/**
 * Reads the tool calls of one answer. Servers differ: some leave out the index or the id, send whole calls, give the same index or the
 * same id to each call, or send the arguments as an object. A piece belongs to the call with its id, with its index, or to the only open
 * call, in this order.
 */
export class OpenAiToolCalls {
  /** The failure of an answer with a piece that belongs to no call, or may belong to several. */
  failure: ProviderFailure | undefined;
  private readonly calls: Call[] = [];
  /** The indexes of pieces that went to the only open call. */
  private readonly foreignIndexes = new Set<number>();

  /** Returns the parts of the calls of a delta or a message: `tool_calls`, or the older `function_call`. */
  parts({ tool_calls: toolCalls, function_call: functionCall }: JsonObject): StreamPart[] {
    const parts: StreamPart[] = [];
    const pieces: readonly unknown[] = Array.isArray(toolCalls) ? toolCalls : [toolCalls];
    for (const piece of pieces) if (isJsonObject(piece)) this.add(pieceOf(piece), parts);
    if (isJsonObject(functionCall)) this.add(pieceOf({ index: 0, function: functionCall }), parts);
    return parts;
  }

  get isEmpty(): boolean {
    return this.calls.length === 0;
  }

  /** Returns the ends of the calls, when the provider has finished the answer. */
  ends(): StreamPart[] {
    const started = this.calls.filter(({ partId, isEnded }) => partId !== undefined && !isEnded);
    if (this.calls.some(({ partId }) => partId === undefined)) this.fail('A tool call has no name.');
    if (this.calls.some((call) => call.mayLackArguments && call.json.trim() === ''))
      this.fail('The arguments of a tool call may be those of another call.');
    return started.map((call) => {
      call.isEnded = true;
      return { type: 'tool_call_end', id: call.partId ?? '' };
    });
  }

  private add(piece: Piece, parts: StreamPart[]): void {
    const { id, name, json, signature } = piece;
    if (id === undefined && name === undefined && json === '') return;
    if (this.calls.some((known) => known.isRepeatedBy(piece) && !known.isOpen)) return;
    const call = this.callOf(piece);
    if (call === undefined) {
      if (json.trim() === '') return;
      this.fail('A piece of a tool call belongs to no call.');
      return;
    }
    call.id ??= id;
    call.name ??= name;
    if (call.partId === undefined && call.name !== undefined) {
      const isTaken = this.calls.some(({ partId }) => partId === call.id);
      call.partId = call.id === undefined || isTaken ? newToolCallId() : call.id;
      const start = {
        type: 'tool_call_start' as const,
        id: call.partId,
        name: call.name,
        index: this.calls.indexOf(call),
      };
      parts.push(signature === undefined ? start : { ...start, signature });
      if (call.json !== '') parts.push({ type: 'tool_call_delta', id: call.partId, json: call.json });
    }
    if (json === '') return;
    call.json += json;
    call.end.read(json);
    if (call.partId !== undefined) parts.push({ type: 'tool_call_delta', id: call.partId, json });
  }

  /** Finds the call of a piece, or adds a new one. Returns `undefined` if the piece belongs to no call. */
  private callOf(piece: Piece): Call | undefined {
    const { index, id, name } = piece;
    const withId = id === undefined ? undefined : this.calls.findLast((call) => call.id === id);
    const withIndex = index === undefined ? undefined : this.calls.findLast((call) => call.index === index);
    const known = withId ?? withIndex;
    if (known?.takes(piece) === true) return known;
    const isAnonymous = id === undefined && name === undefined;
    if (isAnonymous || (known === undefined && index === undefined)) {
      const open = this.calls.filter((call) => call.isOpen && call.takes(piece));
      const call = isAnonymous && open.length > 1 ? undefined : open.at(-1);
      if (call !== undefined && index !== undefined) this.foreignIndexes.add(index);
      if (call !== undefined || (isAnonymous && index === undefined)) return call;
    }
    // Arguments without a name begin a call only at a new index.
    const isNew = name !== undefined || (id !== undefined && withId === undefined) || known === undefined;
    return isNew ? this.newCall(index, id) : undefined;
  }

  private newCall(index: number | undefined, id: string | undefined): Call {
    const call = new Call(index, id);
    call.mayLackArguments = index !== undefined && this.foreignIndexes.has(index);
    this.calls.push(call);
    return call;
  }

  private fail(reason: string): void {
    this.failure ??= providerFailure('upstream_error', reason);
  }
}

/** Some servers leave out the member `function` around the name and the arguments. */
function pieceOf(sent: JsonObject): Piece {
  const { index, id, function: called, extra_content: extra } = sent;
  const { name, arguments: given } = isJsonObject(called) ? called : sent;
  return {
    index: typeof index === 'number' ? index : undefined,
    id: isText(id) ? id : undefined,
    name: isText(name) ? name : undefined,
    json: typeof given === 'object' && given !== null ? jsonSource(given) : isText(given) ? given : '',
    signature: signatureOf(extra),
  };
}

/** Returns the signature of Gemini, or all of `extra_content` if it has anything else. */
function signatureOf(extra: unknown): string | undefined {
  if (!isJsonObject(extra) || Object.keys(extra).length === 0) return undefined;
  const { google, ...others } = extra;
  const { thought_signature: signature, ...more } = isJsonObject(google) ? google : {};
  const isOnly = Object.keys(others).length === 0 && Object.keys(more).length === 0;
  return isOnly && isText(signature) ? signature : JSON.stringify(extra);
}
