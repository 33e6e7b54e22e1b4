import type { AssistantMessage, Message, ToolResult } from '../../../upstreams/contract/conversation.js';
import { decodeState } from '../reasoning-state.js';
import { joinedTexts, piecesOf, textPiecesOf, type Piece } from './input-content.js';
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

/**
 * Turns the items of `input` into messages. The items of one answer become one message, and the results of its calls become one
 * message.
 */
export class InputItems {
  readonly drafts: Draft[] = [];
  /** The signatures of calls, by the id of the call. The item with the signature comes before the call. */
  private readonly signatures = new Map<string, string>();

  addText(role: 'system' | 'user', text: string, path: string): void {
    if (text !== '') this.push(role, path, [{ content: { type: 'text', text }, path }]);
  }

  /** @throws {ServiceError} `invalid_request`. */
  addItem(item: Members): void {
    const type = item.text('type') ?? (item.any('role') !== undefined ? 'message' : 'item_reference');
    switch (type) {
      case 'message':
        this.addMessage(item);
        break;
      case 'function_call':
        this.addCall(item);
        break;
      case 'function_call_output':
        this.addResult(item);
        break;
      case 'reasoning':
        this.addReasoning(item);
        break;
      case 'item_reference':
        throw refused(item.path, `is an item_reference, which ${SEND_ITEMS}`);
      default:
        throw item.refused('type', 'must be message, function_call, function_call_output or reasoning');
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

  private addMessage(item: Members): void {
    const role = item.oneOf('role', ROLES);
    if (role === undefined) throw item.refused('role', `must be one of ${ROLES.join(', ')}`);
    if (role === 'assistant') {
      this.addToAnswer(item, textPiecesOf(item, 'content'));
      return;
    }
    const pieces = role === 'user' ? piecesOf(item, 'content') : textPiecesOf(item, 'content');
    if (pieces.length === 0) throw item.refused('content', 'must not be empty');
    this.push(role === 'developer' ? 'system' : role, item.path, pieces);
  }

  private addCall(item: Members): void {
    const id = item.requiredText('call_id');
    const json = item.requiredText('arguments');
    const signature = this.signatures.get(id);
    const content: AnswerContent = {
      type: 'tool_call',
      id,
      name: item.requiredText('name'),
      json: json === '' ? '{}' : json,
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
    const { text = shown ?? '', signature, encrypted } = state;
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
