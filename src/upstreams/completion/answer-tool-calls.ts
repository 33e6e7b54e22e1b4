import { ServiceError } from '../../common/service-error.js';
import { providerFailure } from '../contract/provider-failure.js';
import type { ToolCallDeltaPart, ToolCallEndPart, ToolCallStartPart } from '../contract/stream-part.js';
import { isText, parseJsonObject } from '../protocols/shared/json-object.js';
import type { CallTrace } from './call-trace.js';

/** The maximum number of tool calls of one answer. */
const MAX_CALLS = 256;
/** The maximum length of the arguments of one call, in UTF-16 units. They are kept until the end of the call. */
const MAX_ARGUMENTS_LENGTH = 1024 * 1024;
const NO_ARGUMENTS = '{}';

/**
 * Checks the tool calls of one answer, for every protocol: a call is complete only if its provider has ended it, and if its
 * arguments are a JSON object.
 */
export class AnswerToolCalls {
  private readonly ids = new Set<string>();
  /** The arguments so far of the calls that are not ended, by id. */
  private readonly open = new Map<string, string>();

  constructor(private readonly trace: CallTrace) {}

  /** Returns the part with its position. @throws {ServiceError} `upstream_error`, as all methods. */
  start(part: ToolCallStartPart): ToolCallStartPart {
    const { id, name } = part;
    if (!isText(id) || !isText(name)) throw failure('A tool call has no id or no name.');
    if (this.ids.has(id)) throw failure('Two tool calls have the same id.');
    if (this.ids.size >= MAX_CALLS) throw failure('The answer has too many tool calls.');
    const index = this.ids.size;
    this.ids.add(id);
    this.open.set(id, '');
    this.trace.addText(name);
    return { ...part, index };
  }

  add({ id, json }: ToolCallDeltaPart): void {
    const joined = this.argumentsOf(id) + json;
    if (joined.length > MAX_ARGUMENTS_LENGTH) throw failure('The arguments of a tool call are too long.');
    this.open.set(id, joined);
    this.trace.addText(json);
  }

  /** Returns what is missing in the arguments: `{}` for a call without arguments, and an empty text otherwise. */
  end({ id }: ToolCallEndPart): string {
    const joined = this.argumentsOf(id);
    const isEmpty = joined.trim() === '';
    if (!isEmpty && parseJsonObject(joined) === undefined) {
      throw failure(`The arguments of a tool call, ${joined.length} characters, are no JSON object.`);
    }
    this.open.delete(id);
    this.trace.toolCalls += 1;
    return isEmpty ? NO_ARGUMENTS : '';
  }

  /** Returns the failure of an answer that is complete although a call is open. A filtered answer has its own failure. */
  cutCall(): ServiceError | undefined {
    const reason = this.trace.finish?.reason;
    if (this.open.size === 0 || reason === 'content_filter') return undefined;
    if (reason !== 'length') return failure('The answer ended inside a tool call.');
    return new ServiceError(
      'upstream_error',
      'The answer reached the maximum number of tokens inside a tool call. Send a higher max_tokens.',
    );
  }

  private argumentsOf(id: string): string {
    const joined = this.open.get(id);
    if (joined === undefined) throw failure('A part belongs to no open tool call.');
    return joined;
  }
}

function failure(reason: string): ServiceError {
  return providerFailure('upstream_error', reason);
}
