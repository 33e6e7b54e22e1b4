import { finishParts } from '../../contract/finish-reason.js';
import type { ProviderEvent, AnswerReader } from '../../contract/protocol.js';
import type { StreamPart } from '../../contract/stream-part.js';
import { END, errorEventParts, NOTHING, PROGRESS, unreadableEventParts } from '../shared/event-parts.js';
import { isJsonObject, isText, parseJsonObject, type JsonObject } from '../shared/json-object.js';
import { tokenCount, tokenUsage } from '../shared/token-count.js';
import { OpenBlocks } from '../anthropic/open-blocks.js';
import { bedrockFailure } from './bedrock-failure.js';

interface ReasoningBlock {
  signature: string;
  encrypted: string;
}

/**
 * Reads the events of one answer of `ConverseStream`. Texts and reasoning begin with their first delta, without an event before. The calls
 * of tools are those of Anthropic with other names, so the same blocks find out what belongs to which call.
 */
export class ConverseReader implements AnswerReader {
  private readonly blocks = new OpenBlocks();
  private readonly reasoning = new Map<unknown, ReasoningBlock>();
  private isStopped = false;

  parts({ event, data }: ProviderEvent): readonly StreamPart[] {
    const body = parseJsonObject(data);
    if (event === 'error') return failureParts(data, body);
    if (body === undefined) return unreadableEventParts(data);
    switch (event) {
      case 'contentBlockStart':
        return this.start(body);
      case 'contentBlockDelta':
        return this.add(body);
      case 'contentBlockStop':
        return this.stop(body);
      case 'messageStop':
        return this.finish(body);
      case 'metadata':
        return this.metadata(body);
      default:
        return NOTHING;
    }
  }

  private start({ contentBlockIndex: index, start }: JsonObject): readonly StreamPart[] {
    const call = isJsonObject(start) ? start.toolUse : undefined;
    // A call with a type is one that AWS runs itself.
    const isOwn = isJsonObject(call) && call.type === undefined;
    const block = isOwn ? { type: 'tool_use', id: call.toolUseId, name: call.name, input: call.input } : {};
    return this.blocks.start({ index, content_block: block });
  }

  /** Deltas that the service does not know (citations, images) are only signs of progress. */
  private add({ contentBlockIndex: index, delta }: JsonObject): readonly StreamPart[] {
    if (!isJsonObject(delta)) return NOTHING;
    const { text, toolUse, reasoningContent } = delta;
    if (typeof text === 'string') return this.blocks.add({ index, delta: { type: 'text_delta', text } });
    if (isJsonObject(reasoningContent)) return this.addReasoning(index, reasoningContent);
    if (!isJsonObject(toolUse)) return PROGRESS;
    return this.blocks.add({ index, delta: { type: 'input_json_delta', partial_json: toolUse.input } });
  }

  private addReasoning(index: unknown, { text, signature, redactedContent }: JsonObject): readonly StreamPart[] {
    const block = this.reasoning.get(index) ?? { signature: '', encrypted: '' };
    this.reasoning.set(index, block);
    if (isText(signature)) block.signature += signature;
    if (isText(redactedContent)) block.encrypted += redactedContent;
    return isText(text) ? [{ type: 'reasoning', text }] : PROGRESS;
  }

  private stop({ contentBlockIndex: index }: JsonObject): readonly StreamPart[] {
    const block = this.reasoning.get(index);
    this.reasoning.delete(index);
    if (block === undefined) return this.blocks.stop({ index });
    const { signature, encrypted } = block;
    if (encrypted !== '') return [{ type: 'reasoning', text: '', encrypted }];
    return signature === '' ? NOTHING : [{ type: 'reasoning', text: '', signature }];
  }

  /** The token counts follow. Some gateways leave out the ends of blocks. */
  private finish({ stopReason }: JsonObject): readonly StreamPart[] {
    const parts = finishParts(stopReason);
    if (parts[0]?.type !== 'finish') return parts;
    this.isStopped = true;
    const ends = parts[0].reason === 'other' ? NOTHING : this.blocks.finish();
    return [...ends, ...parts, { type: 'complete', last: false }];
  }

  /** Converse counts the tokens of the prompt apart from its cached tokens. */
  private metadata({ usage }: JsonObject): readonly StreamPart[] {
    const counts = isJsonObject(usage) ? usage : {};
    const fresh = tokenCount(counts.inputTokens);
    const read = tokenCount(counts.cacheReadInputTokens);
    const written = tokenCount(counts.cacheWriteInputTokens);
    const known = tokenUsage({
      inputTokens: fresh === undefined ? undefined : fresh + (read ?? 0) + (written ?? 0),
      cachedInputTokens: read,
      cacheWriteInputTokens: written,
      outputTokens: tokenCount(counts.outputTokens),
    });
    return [
      ...(known === undefined ? NOTHING : [{ type: 'usage' as const, usage: known }]),
      ...(this.isStopped ? END : NOTHING),
    ];
  }
}

function failureParts(data: string, body: JsonObject | undefined): readonly StreamPart[] {
  const known = body === undefined ? undefined : bedrockFailure(body.type, body);
  return known === undefined ? errorEventParts(data, body) : [{ type: 'error', error: known }];
}
