import { ServiceError } from '../platform/common/service-error.js';
import type { ReasoningContent, TextContent, ToolCallContent } from '../upstreams/contract/conversation.js';
import type { CompletionPart, FinishReason, ReasoningPart, TokenUsage } from '../upstreams/contract/stream-part.js';

/** The maximum length of an answer that is collected, in UTF-16 units. */
const MAX_LENGTH = 8 * 1024 * 1024;

export type AnswerContent = TextContent | ReasoningContent | ToolCallContent;

/** A complete answer. */
export interface Completion {
  /** All texts of the answer. */
  readonly text: string;
  readonly toolCalls: readonly ToolCallContent[];
  readonly reasoning: readonly ReasoningContent[];
  /** Texts, reasoning and tool calls in their order: the content of the next message with the role `assistant`. */
  readonly content: readonly AnswerContent[];
  readonly finishReason: FinishReason;
  /** The provider's own word for the reason. */
  readonly rawFinishReason: string | undefined;
  /** The token counts that the provider has reported. */
  readonly usage: TokenUsage;
}

/** Collects all parts of an answer. @throws the failure of the parts, and {@link ServiceError} when the answer is too long. */
export async function completionOf(parts: AsyncIterable<CompletionPart>): Promise<Completion> {
  const contents = new AnswerContents();
  for await (const part of parts) contents.add(part);
  return contents.completion();
}

type Writable<Content> = { -readonly [Member in keyof Content]: Content[Member] };

/** Collects the parts of one answer. */
export class AnswerContents {
  private readonly content: Writable<AnswerContent>[] = [];
  private readonly calls = new Map<string, Writable<ToolCallContent>>();
  private finishReason: FinishReason = 'other';
  private rawFinishReason: string | undefined;
  private usage: TokenUsage = {};
  private length = 0;
  /** True when the last reasoning has its signature, so that later reasoning is a new block. */
  private isBlockOver = false;

  /** @throws {ServiceError} `upstream_error` when the answer is too long. */
  add(part: CompletionPart): void {
    switch (part.type) {
      case 'text':
        this.addText(part.text);
        break;
      case 'reasoning':
        this.addReasoning(part);
        break;
      case 'tool_call_start': {
        const { id, name, signature } = part;
        const call = { type: 'tool_call' as const, id, name, json: '', ...(signature !== undefined && { signature }) };
        this.calls.set(id, call);
        this.content.push(call);
        break;
      }
      case 'tool_call_delta': {
        const call = this.calls.get(part.id);
        if (call !== undefined) call.json += part.json;
        this.count(part.json);
        break;
      }
      case 'tool_call_end':
        break;
      case 'usage':
        this.usage = { ...this.usage, ...part.usage };
        break;
      case 'finish':
        this.finishReason = part.reason;
        this.rawFinishReason = part.raw;
        break;
    }
  }

  completion(): Completion {
    const { content, finishReason, rawFinishReason, usage } = this;
    const of = <Type extends AnswerContent['type']>(type: Type) =>
      content.filter((part): part is Extract<AnswerContent, { type: Type }> => part.type === type);
    const text = of('text')
      .map((part) => part.text)
      .join('');
    return {
      text,
      toolCalls: of('tool_call'),
      reasoning: of('reasoning'),
      content,
      finishReason,
      rawFinishReason,
      usage,
    };
  }

  private addText(text: string): void {
    const last = this.content.at(-1);
    if (last?.type === 'text') last.text += text;
    else this.content.push({ type: 'text', text });
    this.count(text);
  }

  private addReasoning({ text, signature, encrypted }: ReasoningPart): void {
    const last = this.content.at(-1);
    if (last?.type === 'reasoning' && !this.isBlockOver) {
      last.text += text;
      if (signature !== undefined) last.signature = signature;
      if (encrypted !== undefined) last.encrypted = encrypted;
    } else {
      this.content.push({
        type: 'reasoning',
        text,
        ...(signature !== undefined && { signature }),
        ...(encrypted !== undefined && { encrypted }),
      });
    }
    this.isBlockOver = signature !== undefined || encrypted !== undefined;
    this.count(text + (encrypted ?? ''));
  }

  private count({ length }: string): void {
    this.length += length;
    if (this.length > MAX_LENGTH) throw new ServiceError('upstream_error', 'The answer is too long.');
  }
}
