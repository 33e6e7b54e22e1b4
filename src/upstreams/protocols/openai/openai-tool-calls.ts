import type { FinishReason, StreamPart } from '../../contract/stream-part.js';
import { isJsonObject, isText, parseJsonObject, type JsonObject } from '../shared/json-object.js';
import { newToolCallId } from '../shared/tool-calls.js';

interface Call {
  /** The `index` of the provider. `undefined`: the provider sends none. */
  readonly index: number | undefined;
  id: string | undefined;
  /** The arguments so far. */
  json: string;
  /** The id of the parts. `undefined`: the name has not arrived yet, so the call has not begun. */
  partId: string | undefined;
}

/**
 * Reads the tool calls of one answer. Servers differ: some leave out the index or the id, send whole calls, give the same index to
 * each call, or send the arguments as an object.
 */
export class OpenAiToolCalls {
  private readonly calls: Call[] = [];

  /** Returns the parts of `delta.tool_calls`, or of the older `delta.function_call`. */
  parts(delta: JsonObject): StreamPart[] {
    const { tool_calls: toolCalls, function_call: functionCall } = delta;
    const parts: StreamPart[] = [];
    if (Array.isArray(toolCalls)) for (const piece of toolCalls) if (isJsonObject(piece)) this.add(piece, parts);
    if (isJsonObject(functionCall)) this.add({ index: 0, function: functionCall }, parts);
    return parts;
  }

  /**
   * Returns the ends of the calls, when the provider has finished the answer. A limit of tokens cuts the last call, unless its
   * arguments are whole: a JSON object that is cut is never valid.
   */
  ends(reason: FinishReason): StreamPart[] {
    const ended = this.calls.filter((call) => {
      const isCut = reason === 'length' && call === this.calls.at(-1) && parseJsonObject(call.json) === undefined;
      return call.partId !== undefined && !isCut;
    });
    return ended.map(({ partId = '' }) => ({ type: 'tool_call_end', id: partId }));
  }

  private add(piece: JsonObject, parts: StreamPart[]): void {
    const { function: called, extra_content: extra } = piece;
    const { name, arguments: given } = isJsonObject(called) ? called : {};
    const index = typeof piece.index === 'number' ? piece.index : undefined;
    const id = isText(piece.id) ? piece.id : undefined;
    const call = this.callOf(index, id, isText(name));
    call.id ??= id;
    if (call.partId === undefined && isText(name)) {
      call.partId = call.id ?? newToolCallId();
      const signature = signatureOf(extra);
      const start = { type: 'tool_call_start' as const, id: call.partId, name, index: this.calls.indexOf(call) };
      parts.push(signature === undefined ? start : { ...start, signature });
      if (call.json !== '') parts.push({ type: 'tool_call_delta', id: call.partId, json: call.json });
    }
    const json = isText(given) ? given : isJsonObject(given) ? JSON.stringify(given) : '';
    if (json === '') return;
    call.json += json;
    if (call.partId !== undefined) parts.push({ type: 'tool_call_delta', id: call.partId, json });
  }

  /** Finds the call of a piece, or adds a new one. A piece with another id and a name is a new call, whatever its index. */
  private callOf(index: number | undefined, id: string | undefined, hasName: boolean): Call {
    const known = this.calls.findLast((call) => {
      if (id !== undefined && call.id === id) return true;
      const isOther = hasName && call.partId !== undefined && (id !== undefined || index === undefined);
      return call.index === index && !isOther;
    });
    if (known !== undefined) return known;
    const call: Call = { index, id, json: '', partId: undefined };
    this.calls.push(call);
    return call;
  }
}

function signatureOf(extra: unknown): string | undefined {
  const google = isJsonObject(extra) ? extra.google : undefined;
  const signature = isJsonObject(google) ? google.thought_signature : undefined;
  return isText(signature) ? signature : undefined;
}
