import { z } from 'zod';
import { rawJson } from '../../../../plugin-api/core/common.js';
import type { SentBody } from '../../shared/checked-body.js';
import { customInput } from '../../shared/custom-tools.js';
import type { ToolOrigin } from '../offered-tools.js';

/** An event of Open Responses, without its sequence number. */
export interface EventBody {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** `incomplete`: the answer ended inside the item. */
export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

/** One item of the output, while it is written. */
export interface OutputItem {
  /** The position in the output. */
  readonly index: number;
  /** Returns the events after the announcement of the item. */
  begin?(): EventBody[];
  /** Returns the events before the end of the item. */
  close(): EventBody[];
  /** Returns the item with its content so far. An item in progress is announced without any content. */
  snapshot(status: ItemStatus): object;
}

/**
 * What `encrypted_content` of a reasoning item carries, so that the next turn has it again. Clients send the member back as it
 * is, but some drop the text of the reasoning, and a function call has no member for a signature.
 */
interface ReasoningState {
  readonly text?: string | undefined;
  readonly signature?: string | undefined;
  readonly encrypted?: string | undefined;
  /** The id of the call to which the signature belongs. Without it, the signature belongs to the reasoning. */
  readonly call?: string | undefined;
}

/** Distinguishes the state from the encrypted content of another service. */
const PREFIX = 'rs1.';

const State = z.object({
  text: z.string().optional(),
  signature: z.string().optional(),
  encrypted: z.string().optional(),
  call: z.string().optional(),
});

export function encodeState(state: ReasoningState): string {
  return PREFIX + Buffer.from(JSON.stringify(state)).toString('base64url');
}

/** Content of another form comes from a provider: see {@link providerState}. */
export function decodeState(content: string): ReasoningState {
  if (!content.startsWith(PREFIX)) return { encrypted: content };
  try {
    return State.parse(JSON.parse(Buffer.from(content.slice(PREFIX.length), 'base64url').toString()));
  } catch {
    return { encrypted: content };
  }
}

/** The protocol whose providers have reasoning items in the form of this surface. */
const SAME_FORM = 'openai-responses';

/**
 * Returns the state for an item with the content of a provider, which the client has from elsewhere. It goes on as it is.
 *
 * @param id the id of the item.
 */
export function providerState(encrypted_content: string, id: string | undefined, item: SentBody): string {
  const summary = item['summary'] ?? [];
  const content = item['content'] ?? undefined;
  return `${SAME_FORM}:${JSON.stringify({ id, type: 'reasoning', encrypted_content, summary, content })}`;
}

/** A message with the text of the answer. */
export class MessageItem implements OutputItem {
  private text = '';

  constructor(
    private readonly id: string,
    readonly index: number,
  ) {}

  begin(): EventBody[] {
    return [{ type: 'response.content_part.added', ...this.place, part: this.part }];
  }

  add(text: string): EventBody[] {
    this.text += text;
    return [{ type: 'response.output_text.delta', ...this.place, delta: text, logprobs: [] }];
  }

  close(): EventBody[] {
    return [
      { type: 'response.output_text.done', ...this.place, text: this.text, logprobs: [] },
      { type: 'response.content_part.done', ...this.place, part: this.part },
    ];
  }

  snapshot(status: ItemStatus): object {
    const content = status === 'in_progress' ? [] : [this.part];
    return { type: 'message', id: this.id, status, role: 'assistant', content };
  }

  private get part(): object {
    return { type: 'output_text', text: this.text, annotations: [], logprobs: [] };
  }

  private get place() {
    return { item_id: this.id, output_index: this.index, content_index: 0 };
  }
}

/** How the text of reasoning is shown. */
export type ReasoningForm = 'content' | 'summary';

/** The names of the events and members of both forms. */
const FORMS = {
  content: {
    index: 'content_index',
    part: 'reasoning_text',
    partEvent: 'response.content_part',
    text: 'response.reasoning_text',
  },
  summary: {
    index: 'summary_index',
    part: 'summary_text',
    partEvent: 'response.reasoning_summary_part',
    text: 'response.reasoning_summary_text',
  },
} as const;

/** A block of reasoning, or the signature of a call, which has no text. */
export class ReasoningItem implements OutputItem {
  private text = '';
  private state: ReasoningState | undefined;

  constructor(
    private readonly id: string,
    readonly index: number,
    private readonly form: ReasoningForm,
  ) {}

  add(text: string): EventBody[] {
    const isFirst = this.text === '';
    const { partEvent, text: textEvent } = FORMS[this.form];
    const added = isFirst ? [{ type: `${partEvent}.added`, ...this.place, part: this.part }] : [];
    this.text += text;
    return [...added, { type: `${textEvent}.delta`, ...this.place, delta: text }];
  }

  /** Keeps what the next turn must send back. */
  keep(state: ReasoningState): void {
    this.state = { ...state, ...(this.text !== '' && { text: this.text }) };
  }

  close(): EventBody[] {
    if (this.text === '') return [];
    const { partEvent, text: textEvent } = FORMS[this.form];
    return [
      { type: `${textEvent}.done`, ...this.place, text: this.text },
      { type: `${partEvent}.done`, ...this.place, part: this.part },
    ];
  }

  snapshot(status: ItemStatus): object {
    const parts = this.text === '' ? [] : [this.part];
    return {
      type: 'reasoning',
      id: this.id,
      status,
      summary: this.form === 'summary' ? parts : [],
      ...(this.form === 'content' && { content: parts }),
      ...(this.state !== undefined && { encrypted_content: encodeState(this.state) }),
    };
  }

  private get part(): object {
    return { type: FORMS[this.form].part, text: this.text };
  }

  private get place(): object {
    return { item_id: this.id, output_index: this.index, [FORMS[this.form].index]: 0 };
  }
}

/** The beginning of the id of an item. */
export const CALL_ID_PREFIXES: Readonly<Record<ToolOrigin['kind'], string>> = {
  function: 'fc',
  custom: 'ctc',
  tool_search: 'tsc',
};

/** A call of a tool. The arguments of a function are sent as they arrive, and the input of other tools when it is complete. */
export class CallItem implements OutputItem {
  private json = '';

  constructor(
    private readonly id: string,
    readonly index: number,
    private readonly callId: string,
    private readonly origin: ToolOrigin,
  ) {}

  add(json: string): EventBody[] {
    this.json += json;
    if (this.origin.kind !== 'function') return [];
    return [{ type: 'response.function_call_arguments.delta', ...this.place, delta: json }];
  }

  snapshot(status: ItemStatus): object {
    const { name, namespace } = this.origin;
    const call = { id: this.id, call_id: this.callId, status };
    const named = { name, ...(namespace !== undefined && { namespace }) };
    switch (this.origin.kind) {
      case 'function':
        return { type: 'function_call', ...call, ...named, arguments: this.json };
      case 'custom':
        return { type: 'custom_tool_call', ...call, ...named, input: this.input };
      case 'tool_search':
        return { type: 'tool_search_call', ...call, execution: 'client', arguments: parsed(this.json) };
    }
  }

  close(): EventBody[] {
    switch (this.origin.kind) {
      case 'function': {
        const { name } = this.origin;
        return [{ type: 'response.function_call_arguments.done', ...this.place, name, arguments: this.json }];
      }
      case 'custom':
        return [
          { type: 'response.custom_tool_call_input.delta', ...this.place, delta: this.input },
          { type: 'response.custom_tool_call_input.done', ...this.place, input: this.input },
        ];
      case 'tool_search':
        return [];
    }
  }

  private get input(): string {
    return customInput(this.json);
  }

  private get place() {
    return { item_id: this.id, output_index: this.index };
  }
}

/** The arguments as the model has written them. Arguments that are not JSON stay a text. */
function parsed(json: string): unknown {
  try {
    JSON.parse(json);
    return rawJson(json);
  } catch {
    return json;
  }
}
