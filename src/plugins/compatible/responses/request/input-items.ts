import { jsonSource } from '../../../../plugin-api/core/common.js';
import type { AssistantMessage, Message, ToolResult } from '../../../../plugin-api/core/upstreams.js';
import { decodeState, providerState } from '../reasoning-state.js';
import { joinedTexts, piecesOf, textPiecesOf, type Piece } from './input-content.js';
import { customArguments } from '../../shared/custom-tools.js';
import { effortOf } from '../../shared/body-fields.js';
import { functionName, SEARCH_NAME } from '../offered-tools.js';
import { refused, type Members } from '../../shared/members.js';

type AnswerContent = Exclude<AssistantMessage['content'], string>[number];

/** A message that is not complete yet, with the paths of its contents in the body. */
export interface Draft {
  readonly role: Message['role'];
  readonly path: string;
  readonly pieces: Piece<unknown>[];
}

/** What a client of a service that stores responses sends, and what it must send instead. */
export const SEND_ITEMS =
  'is not available, because the service stores no responses. Send all items of the conversation in input. ' +
  'SDKs do this with store: false';

export const ROLES = ['user', 'assistant', 'system', 'developer'] as const;

/** Calls that OpenAI has run. They are over, and the answer after them has their results. */
const PAST_CALLS: ReadonlySet<string> = new Set([
  ...['web_search_call', 'file_search_call', 'code_interpreter_call', 'image_generation_call'],
  ...['mcp_call', 'mcp_list_tools', 'mcp_approval_request', 'mcp_approval_response'],
]);

/**
 * Turns the items of `input` into messages. The items of one answer become one message, and the results of its calls become one
 * message.
 */
export class InputItems {
  readonly drafts: Draft[] = [];
  /** The tools that items bring. */
  readonly tools: Members[] = [];
  /** The effort of the answer, if an item has changed it. Codex does this in place of another `reasoning.effort`. */
  effort: ReturnType<typeof effortOf>;
  /** The signatures of calls, by the id of the call. The item with the signature comes before the call. */
  private readonly signatures = new Map<string, string>();

  /** @param ignore names an item that has no effect. */
  constructor(private readonly ignore: (member: string) => void) {}

  addText(role: 'system' | 'user', text: string, path: string): void {
    if (text !== '') this.push(role, path, [{ content: { type: 'text', text }, path }]);
  }

  /**
   * @param isLast whether it is the last item of the input.
   * @throws {ServiceError} `invalid_request`.
   */
  addItem(item: Members, isLast: boolean): void {
    const type = item.text('type') ?? (item.any('role') !== undefined ? 'message' : 'item_reference');
    switch (type) {
      case 'message':
        this.addMessage(item, isLast);
        break;
      case 'function_call':
        this.addCall(item, item.requiredText('arguments') || '{}');
        break;
      case 'custom_tool_call':
        this.addCall(item, customArguments(item.requiredText('input')));
        break;
      case 'function_call_output':
      case 'custom_tool_call_output':
        this.addResult(item);
        break;
      case 'additional_tools':
        this.tools.push(...(item.objects('tools') ?? []));
        break;
      case 'tool_search_call':
        // Of a search by the provider, only the tools in its output matter.
        if (item.text('call_id') !== undefined) this.addCall(item, argumentsOf(item), SEARCH_NAME);
        break;
      case 'tool_search_output':
        this.addFoundTools(item);
        break;
      case 'agent_message':
        this.push('user', item.path, textPiecesOf(item, 'content'));
        break;
      case 'configuration_update': {
        const reasoning = item.inner('reasoning');
        this.effort = (reasoning && effortOf(reasoning, 'effort')) ?? this.effort;
        break;
      }
      case 'reasoning':
        this.addReasoning(item);
        break;
      case 'item_reference':
        throw refused(item.path, `is an item_reference, which ${SEND_ITEMS}`);
      default:
        if (PAST_CALLS.has(type)) {
          this.ignore(`input.${type}`);
          break;
        }
        throw item.refused(
          'type',
          'must be message, reasoning, function_call, custom_tool_call, an output of these calls, additional_tools, ' +
            'tool_search_call or tool_search_output',
        );
    }
  }

  messages(): Message[] {
    return this.drafts.map(({ role, pieces }) => {
      const contents = pieces.map(({ content }) => content as AnswerContent);
      const [only] = contents;
      const isOneText = contents.length === 1 && only?.type === 'text' && role !== 'tool';
      return { role, content: isOneText ? only.text : contents } as Message;
    });
  }

  private addMessage(item: Members, isLast: boolean): void {
    const role = item.oneOf('role', ROLES);
    if (role === undefined) throw item.refused('role', `must be one of ${ROLES.join(', ')}`);
    if (role === 'assistant') {
      this.addToAnswer(item, textPiecesOf(item, 'content'));
      return;
    }
    const pieces = role === 'user' ? piecesOf(item, 'content') : textPiecesOf(item, 'content');
    // An empty message tells the model nothing. The last one is the question.
    if (pieces.length > 0) this.push(role === 'developer' ? 'system' : role, item.path, pieces);
    else if (role === 'user' && isLast) throw item.refused('content', 'must not be empty');
  }

  private addCall(item: Members, json: string, name = item.requiredText('name')): void {
    const id = item.requiredText('call_id');
    const signature = this.signatures.get(id);
    const content: AnswerContent = {
      type: 'tool_call',
      id,
      name: functionName({ name, namespace: item.text('namespace') }),
      json,
      ...(signature !== undefined && { signature }),
    };
    this.addToAnswer(item, [{ content, path: item.path }]);
  }

  private addReasoning(item: Members): void {
    const sent = item.text('encrypted_content');
    const state = sent === undefined ? {} : decodeState(sent);
    if (state.call !== undefined) {
      if (state.signature !== undefined) this.signatures.set(state.call, state.signature);
      return;
    }
    const shown = [joinedTexts(item, 'content'), joinedTexts(item, 'summary')].find((text) => text !== '');
    const { text = shown ?? '', signature } = state;
    const encrypted = sent === undefined || state.encrypted !== sent ? state.encrypted : providerState(sent, item);
    if (text === '' && signature === undefined && encrypted === undefined) return;
    const content: AnswerContent = {
      type: 'reasoning',
      text,
      ...(signature !== undefined && { signature }),
      ...(encrypted !== undefined && { encrypted }),
    };
    this.addToAnswer(item, [{ content, path: item.path }]);
  }

  private addResult(item: Members): void {
    const pieces = piecesOf(item, 'output').map(({ content }) => content);
    const [only] = pieces;
    const content = pieces.length === 1 && only?.type === 'text' ? only.text : pieces;
    const result: ToolResult = {
      toolCallId: item.requiredText('call_id'),
      content: pieces.length === 0 ? '' : content,
    };
    this.join('tool', item.path, [{ content: result, path: item.path }]);
  }

  /** The model reads the names, and gets the tools themselves with the other tools. */
  private addFoundTools(item: Members): void {
    const tools = item.objects('tools') ?? [];
    this.tools.push(...tools);
    const toolCallId = item.text('call_id');
    if (toolCallId === undefined) return;
    const names = tools.flatMap((tool) => namesOf(tool)).join(', ');
    const content = names === '' ? 'No tools were found.' : `These tools are available now: ${names}`;
    this.join('tool', item.path, [{ content: { toolCallId, content }, path: item.path }]);
  }

  private addToAnswer(item: Members, pieces: readonly Piece<AnswerContent>[]): void {
    if (pieces.length > 0) this.join('assistant', item.path, pieces);
  }

  /** Adds contents to the last message, if it has the same role. */
  private join(role: 'assistant' | 'tool', path: string, pieces: readonly Piece<unknown>[]): void {
    const last = this.drafts.at(-1);
    if (last?.role === role) last.pieces.push(...pieces);
    else this.push(role, path, pieces);
  }

  private push(role: Message['role'], path: string, pieces: readonly Piece<unknown>[]): void {
    this.drafts.push({ role, path, pieces: [...pieces] });
  }
}

/** Returns the arguments as they arrived. Arguments of the model that are no JSON are a text. */
function argumentsOf(item: Members): string {
  const args = item.any('arguments');
  return typeof args === 'string' ? args : jsonSource(item.json('arguments') ?? {});
}

/** Returns the names of the functions of a tool, or of a namespace. */
function namesOf(tool: Members): string[] {
  const name = tool.text('name');
  if (name === undefined) return [];
  if (tool.text('type') !== 'namespace') return [name];
  return (tool.objects('tools') ?? []).map((inner) =>
    functionName({ name: inner.requiredText('name'), namespace: name }),
  );
}
