import { ServiceError } from '../../platform/common/service-error.js';
import { providerFailure } from '../contract/provider-failure.js';
import type {
  FinishReason,
  ToolCallDeltaPart,
  ToolCallEndPart,
  ToolCallPart,
  ToolCallStartPart,
} from '../contract/stream-part.js';
import { isText, parseJsonObject } from '../protocols/shared/json-object.js';
import { newToolCallId } from '../protocols/shared/tool-calls.js';
import type { CallTrace } from './call-trace.js';

/** The maximum number of tool calls of one answer. */
const MAX_CALLS = 256;
/** The maximum length of the arguments of one call, in UTF-16 units. They are kept until the end of the call. */
const MAX_ARGUMENTS_LENGTH = 1024 * 1024;
const NO_ARGUMENTS = '{}';

/**
 * Checks the tool calls of one answer, for every protocol: a call is complete only if its provider has ended it. Arguments that are no
 * JSON object may be cut, so the end of their call waits for what follows. If the answer then goes on, or ends without reaching its
 * limit of tokens, the model has written the arguments so, and the client gets them.
 */
export class AnswerToolCalls {
  /** The ids of the answer by those of the provider. A provider may give one id to two calls. */
  private readonly ids = new Map<string, string>();
  /** The arguments so far of the calls that are not ended, by id. */
  private readonly open = new Map<string, string>();
  /** The calls that the provider has ended, and whose arguments may be cut. */
  private readonly waiting = new Set<string>();
  private count = 0;
  private last = '';

  constructor(private readonly trace: CallTrace) {}

  /** Returns the part with its position. @throws {ServiceError} `upstream_error`, as all methods. */
  start(part: ToolCallStartPart): ToolCallStartPart {
    const { id, name } = part;
    if (!isText(id) || !isText(name)) throw failure('A tool call has no id or no name.');
    const known = this.ids.get(id);
    if (known !== undefined && this.open.has(known)) throw failure('Two open tool calls have the same id.');
    if (this.count >= MAX_CALLS) throw failure('The answer has too many tool calls.');
    const index = this.count;
    const own = known === undefined ? id : newToolCallId();
    this.count += 1;
    this.ids.set(id, own);
    this.open.set(own, '');
    this.last = own;
    this.trace.addText(name);
    return { ...part, id: own, index };
  }

  /** Returns the part with the id of the answer. */
  add({ type, id, json }: ToolCallDeltaPart): ToolCallDeltaPart {
    const own = this.openId(id);
    const joined = (this.open.get(own) ?? '') + json;
    if (joined.length > MAX_ARGUMENTS_LENGTH) throw failure('The arguments of a tool call are too long.');
    this.open.set(own, joined);
    this.trace.addText(json);
    return { type, id: own, json };
  }

  /** Returns the parts of the end, or nothing if the end waits. */
  end({ id }: ToolCallEndPart): readonly ToolCallPart[] {
    const own = this.openId(id);
    if (parseJsonObject(this.open.get(own) ?? '') !== undefined) return this.close(own);
    this.waiting.add(own);
    return [];
  }

  /**
   * Returns the parts of the ends that wait, when something follows.
   *
   * @param reason the finish reason. `none`: the answer ends without one. `undefined`: the answer goes on.
   */
  settle(reason?: FinishReason | 'none'): readonly ToolCallPart[] {
    if (this.waiting.size === 0 || reason === 'content_filter' || reason === 'other') return [];
    const isCut = (id: string) =>
      id === this.last && (reason === 'length' || (reason === 'none' && this.open.get(id)?.trim() !== ''));
    return [...this.waiting].flatMap((id) => (isCut(id) ? [] : this.close(id)));
  }

  /** Without any arguments, the arguments are `{}`. */
  private close(id: string): readonly ToolCallPart[] {
    const isEmpty = (this.open.get(id) ?? '').trim() === '';
    this.open.delete(id);
    this.waiting.delete(id);
    this.trace.toolCalls += 1;
    const end: ToolCallEndPart = { type: 'tool_call_end', id };
    return isEmpty ? [{ type: 'tool_call_delta', id, json: NO_ARGUMENTS }, end] : [end];
  }

  /** Whether a call has ended with arguments that are no JSON, and nothing has followed. */
  get isWaiting(): boolean {
    return this.waiting.size > 0;
  }

  /** Returns the failure of an answer that is complete although a call is open. A filtered answer has its own failure. */
  cutCall(reason: FinishReason | 'none'): ServiceError | undefined {
    if (this.open.size === 0 || reason === 'content_filter') return undefined;
    if (reason !== 'length') return failure('The answer ended inside a tool call.');
    return new ServiceError(
      'upstream_error',
      'The answer reached the maximum number of tokens inside a tool call. Send a higher max_tokens.',
    );
  }

  private openId(id: string): string {
    const own = this.ids.get(id);
    if (own === undefined || !this.open.has(own)) throw failure('A part belongs to no open tool call.');
    return own;
  }
}

function failure(reason: string): ServiceError {
  return providerFailure('upstream_error', reason);
}
