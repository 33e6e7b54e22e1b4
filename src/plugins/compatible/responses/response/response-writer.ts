import { ServiceError } from '../../../../plugin-api/core/common.js';
import type {
  CompletionPart,
  FinishReason,
  ReasoningPart,
  ToolCallStartPart,
} from '../../../../plugin-api/core/upstreams.js';
import type { AnswerFacts } from '../../shared/compatible-answers.js';
import { openAiError } from '../../shared/error-formats.js';
import type { ToolOrigin } from '../offered-tools.js';
import {
  CALL_ID_PREFIXES,
  CallItem,
  MessageItem,
  type EventBody,
  type ItemStatus,
  type OutputItem,
  ReasoningItem,
  type ReasoningForm,
} from './output-items.js';
import { responseResource, usageOf, type ResponseSettings, type ResponseState } from './response-resource.js';

/** The maximum length of an answer, in UTF-16 units. The last event repeats the whole answer, so it is kept until then. */
const MAX_LENGTH = 8 * 1024 * 1024;

/** An event of Open Responses. */
export interface ResponseEvent extends EventBody {
  readonly sequence_number: number;
}

/** Turns the parts of one answer into the events of Open Responses, and into the response itself. */
export class ResponseWriter {
  /** In the order of the output. */
  private readonly items = new Map<OutputItem, ItemStatus>();
  private readonly calls = new Map<string, CallItem>();
  /** The message or the reasoning that the next part may continue. */
  private current: MessageItem | ReasoningItem | undefined;
  private finish: FinishReason = 'stop';
  private length = 0;
  private sequence = 0;
  private hasStarted = false;

  constructor(
    private readonly facts: AnswerFacts,
    private readonly settings: ResponseSettings,
    private readonly form: ReasoningForm,
    private readonly origins: ReadonlyMap<string, ToolOrigin> = new Map(),
  ) {}

  /** Returns the events of a part. @throws {ServiceError} `upstream_error` when the answer is too long. */
  add(part: CompletionPart): ResponseEvent[] {
    if (part.type === 'finish') this.finish = part.reason;
    return this.numbered(this.eventsOf(part));
  }

  /** Returns the last events of a complete answer. */
  end(): ResponseEvent[] {
    const isCut = this.finish === 'length';
    const closed = this.closeCurrent(isCut ? 'incomplete' : 'completed');
    const type = isCut ? 'response.incomplete' : 'response.completed';
    return this.numbered([...closed, { type, response: this.whole() }]);
  }

  /**
   * Returns the last events of an answer that has failed. They have no calls that are not complete, so that no client runs them.
   *
   * Many clients ignore `response.failed`, and take the answer for a complete one. They know the event `error`.
   */
  fail(failure: ServiceError): ResponseEvent[] {
    const { code, message, type, param } = openAiError(failure).error;
    const output = [...this.items]
      .filter(([item, status]) => status === 'completed' || !(item instanceof CallItem))
      .map(([item, status]) => item.snapshot(status === 'completed' ? status : 'incomplete'));
    const response = this.resource({ status: 'failed', output, error: { code, message } });
    return this.numbered([
      { type: 'error', error: { type, code, message, param } },
      { type: 'response.failed', response },
    ]);
  }

  /** Returns the response of a complete answer. Call this after {@link end}. */
  whole(): object {
    const isCut = this.finish === 'length';
    return this.resource({
      status: isCut ? 'incomplete' : 'completed',
      output: [...this.items].map(([item, status]) => item.snapshot(status)),
      usage: usageOf(this.facts.usage()),
      ...(isCut
        ? { incomplete_details: { reason: 'max_output_tokens' } }
        : { completed_at: Math.max(this.facts.completedSeconds(), this.facts.createdSeconds) }),
    });
  }

  private eventsOf(part: CompletionPart): EventBody[] {
    switch (part.type) {
      case 'text':
        this.count(part.text);
        return this.text(part.text);
      case 'reasoning':
        this.count(part.text);
        return this.reasoning(part);
      case 'tool_call_start':
        return this.call(part);
      case 'tool_call_delta':
        this.count(part.json);
        return this.calls.get(part.id)?.add(part.json) ?? [];
      case 'tool_call_end': {
        const call = this.calls.get(part.id);
        return call === undefined ? [] : this.close(call, 'completed');
      }
      case 'usage':
      case 'finish':
        return [];
    }
  }

  private text(text: string): EventBody[] {
    if (this.current instanceof MessageItem) return this.current.add(text);
    const before = this.closeCurrent('completed');
    const message = new MessageItem(this.itemId('msg'), this.items.size);
    this.current = message;
    return [...before, ...this.begin(message), ...message.add(text)];
  }

  private reasoning({ text, signature, encrypted }: ReasoningPart): EventBody[] {
    const isNew = !(this.current instanceof ReasoningItem);
    const before = isNew ? this.closeCurrent('completed') : [];
    const item = this.current instanceof ReasoningItem ? this.current : this.newReasoning();
    this.current = item;
    const events = [...before, ...(isNew ? this.begin(item) : []), ...(text === '' ? [] : item.add(text))];
    if (signature === undefined && encrypted === undefined) return events;
    item.keep({ signature, encrypted });
    return [...events, ...this.closeCurrent('completed')];
  }

  private call({ id, name, signature }: ToolCallStartPart): EventBody[] {
    const before = this.closeCurrent('completed');
    if (signature !== undefined) {
      const carrier = this.newReasoning();
      carrier.keep({ call: id, signature });
      before.push(...this.begin(carrier), ...this.close(carrier, 'completed'));
    }
    const origin = this.origins.get(name) ?? { kind: 'function', name };
    const call = new CallItem(this.itemId(CALL_ID_PREFIXES[origin.kind]), this.items.size, id, origin);
    this.calls.set(id, call);
    return [...before, ...this.begin(call)];
  }

  private newReasoning(): ReasoningItem {
    return new ReasoningItem(this.itemId('rs'), this.items.size, this.form);
  }

  private begin(item: OutputItem): EventBody[] {
    this.items.set(item, 'in_progress');
    const added = { type: 'response.output_item.added', output_index: item.index, item: item.snapshot('in_progress') };
    return [added, ...(item.begin?.() ?? [])];
  }

  private closeCurrent(status: ItemStatus): EventBody[] {
    const { current } = this;
    this.current = undefined;
    return current === undefined ? [] : this.close(current, status);
  }

  private close(item: OutputItem, status: ItemStatus): EventBody[] {
    this.items.set(item, status);
    const done = { type: 'response.output_item.done', output_index: item.index, item: item.snapshot(status) };
    return [...item.close(), done];
  }

  /** The same ids in each repetition of the answer. */
  private itemId(prefix: string): string {
    return `${prefix}_${this.facts.id}_${this.items.size}`;
  }

  private resource(state: ResponseState): object {
    return responseResource(this.facts, this.settings, state);
  }

  /** Numbers the events. The first events of a stream announce the response. */
  private numbered(events: readonly EventBody[]): ResponseEvent[] {
    const first = this.hasStarted || events.length === 0 ? [] : this.announcements();
    return [...first, ...events].map((event) => ({ ...event, sequence_number: this.sequence++ }));
  }

  private announcements(): EventBody[] {
    this.hasStarted = true;
    const response = this.resource({ status: 'in_progress', output: [] });
    return ['response.created', 'response.in_progress'].map((type) => ({ type, response }));
  }

  private count({ length }: string): void {
    this.length += length;
    if (this.length > MAX_LENGTH) throw new ServiceError('upstream_error', 'The answer is too long.');
  }
}
