import { jsonSource } from '../../../../plugin-api/core/common.js';
import type {
  AssistantMessage,
  ImageContent,
  Message,
  TextContent,
  ToolResult,
} from '../../../../plugin-api/core/upstreams.js';
import { refused, textAt, type Ignore, type SentBody } from '../../shared/checked-body.js';
import { detailOf, effortOf } from '../../shared/common-members.js';
import { customArguments } from '../../shared/custom-tools.js';
import { functionName } from '../offered-tools.js';
import { decodeState, providerState } from '../response/output-items.js';
import type { Content, InputItem, ItemOf, MessageItem } from './responses-body.js';
import { SEARCH_NAME, type ToolBody } from './tool-schemas.js';

type AnswerContent = Exclude<AssistantMessage['content'], string>[number];

type Part = Exclude<Content, string>[number];
type TextPart = Exclude<Part, { type: 'input_image' }>;

/** A content of a message, with its path in the body. */
interface Piece<Value> {
  readonly content: Value;
  readonly path: string;
}

/** A message that is not complete yet, with the paths of its contents in the body. */
export interface Draft {
  readonly role: Message['role'];
  readonly path: string;
  readonly pieces: Piece<unknown>[];
}

type CallItem = ItemOf<'function_call' | 'custom_tool_call' | 'tool_search_call'>;
type ResultItem = ItemOf<'function_call_output' | 'custom_tool_call_output'>;

/** Where an item stands in the body. */
interface ItemPlace {
  readonly path: string;
  readonly isLast: boolean;
  /** The item with all of its members. */
  readonly sent: SentBody;
}

/**
 * Turns the items of `input` into messages. The items of one answer become one message, and the results of its calls become one
 * message.
 */
export class InputItems {
  readonly drafts: Draft[] = [];
  /** The tools that items bring. */
  readonly tools: ToolBody[] = [];
  /** The effort of the answer, if an item has changed it. Codex does this in place of another `reasoning.effort`. */
  effort: ReturnType<typeof effortOf>;
  /** The signatures of calls, by the id of the call. The item with the signature comes before the call. */
  private readonly signatures = new Map<string, string>();

  /** @param ignore names an item that has no effect. */
  constructor(private readonly ignore: Ignore) {}

  addText(role: 'system' | 'user', text: string, path: string): void {
    if (text !== '') this.push(role, path, [{ content: { type: 'text', text }, path }]);
  }

  /** @throws {ServiceError} `invalid_request`. */
  addItem(item: InputItem, place: ItemPlace): void {
    const { path } = place;
    switch (item.type) {
      case 'message':
      case null:
      case undefined:
        this.addMessage(item, place);
        break;
      case 'function_call':
        this.addCall(item, item.name, item.arguments || '{}', path);
        break;
      case 'custom_tool_call':
        this.addCall(item, item.name, customArguments(item.input), path);
        break;
      case 'function_call_output':
      case 'custom_tool_call_output':
        this.addResult(item, path);
        break;
      case 'additional_tools':
        this.tools.push(...(item.tools ?? []));
        break;
      case 'tool_search_call':
        this.addCall(item, SEARCH_NAME, argumentsOf(item.arguments), path);
        break;
      case 'provider_search':
        break;
      case 'tool_search_output':
        this.addFoundTools(item, path);
        break;
      case 'agent_message':
        this.push('user', path, piecesOf(item.content, `${path}.content`));
        break;
      case 'configuration_update':
        this.effort = effortOf(item.reasoning?.effort) ?? this.effort;
        break;
      case 'reasoning':
        this.addReasoning(item, place);
        break;
      default:
        this.ignore(`input.${item.type}`);
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

  private addMessage({ role, content }: MessageItem, { path, isLast }: ItemPlace): void {
    const pieces = piecesOf(content, `${path}.content`);
    if (role === 'assistant') this.join('assistant', path, pieces);
    // An empty message tells the model nothing. The last one is the question.
    else if (pieces.length > 0) this.push(role === 'developer' ? 'system' : role, path, pieces);
    else if (role === 'user' && isLast) throw refused(`${path}.content`, 'must not be empty');
  }

  private addCall({ call_id: id, namespace }: CallItem, name: string, json: string, path: string): void {
    const signature = this.signatures.get(id);
    const content: AnswerContent = {
      type: 'tool_call',
      id,
      name: functionName({ name, namespace: namespace ?? undefined }),
      json,
      ...(signature !== undefined && { signature }),
    };
    this.join('assistant', path, [{ content, path }]);
  }

  private addReasoning(item: ItemOf<'reasoning'>, { path, sent }: ItemPlace): void {
    const sentContent = item.encrypted_content ?? undefined;
    const state = sentContent === undefined ? {} : decodeState(sentContent);
    if (state.call !== undefined) {
      if (state.signature !== undefined) this.signatures.set(state.call, state.signature);
      return;
    }
    const shown = [joinedTexts(item.content), joinedTexts(item.summary)].find((text) => text !== '');
    const { text = shown ?? '', signature } = state;
    const isOfProvider = sentContent !== undefined && state.encrypted === sentContent;
    const encrypted = isOfProvider ? providerState(sentContent, textAt(item.id, `${path}.id`), sent) : state.encrypted;
    if (text === '' && signature === undefined && encrypted === undefined) return;
    const content: AnswerContent = {
      type: 'reasoning',
      text,
      ...(signature !== undefined && { signature }),
      ...(encrypted !== undefined && { encrypted }),
    };
    this.join('assistant', path, [{ content, path }]);
  }

  private addResult({ call_id: toolCallId, output }: ResultItem, path: string): void {
    const pieces = piecesOf(output, `${path}.output`).map(({ content }) => content);
    const [only] = pieces;
    const content = pieces.length === 1 && only?.type === 'text' ? only.text : pieces;
    const result: ToolResult = { toolCallId, content: pieces.length === 0 ? '' : content };
    this.join('tool', path, [{ content: result, path }]);
  }

  /** The model reads the names, and gets the tools themselves with the other tools. */
  private addFoundTools({ call_id, tools }: ItemOf<'tool_search_output'>, path: string): void {
    this.tools.push(...(tools ?? []));
    if (call_id === undefined || call_id === null) return;
    const names = (tools ?? []).flatMap((tool, index) => namesOf(tool, `${path}.tools.${index}`)).join(', ');
    const content = names === '' ? 'No tools were found.' : `These tools are available now: ${names}`;
    this.join('tool', path, [{ content: { toolCallId: call_id, content }, path }]);
  }

  /** Adds contents to the last message, if it has the same role. */
  private join(role: 'assistant' | 'tool', path: string, pieces: readonly Piece<unknown>[]): void {
    if (pieces.length === 0) return;
    const last = this.drafts.at(-1);
    if (last?.role === role) last.pieces.push(...pieces);
    else this.push(role, path, pieces);
  }

  private push(role: Message['role'], path: string, pieces: readonly Piece<unknown>[]): void {
    this.drafts.push({ role, path, pieces: [...pieces] });
  }
}

/** Returns the arguments as they arrived. Arguments of the model that are no JSON are a text. */
function argumentsOf(args: string | object | null | undefined): string {
  return typeof args === 'string' ? args : jsonSource(args ?? {});
}

/** Returns the names of the functions of a tool, or of a namespace. */
function namesOf(tool: ToolBody, path: string): string[] {
  const name = textAt(tool.name, `${path}.name`);
  if (name === undefined) return [];
  if (tool.type !== 'namespace') return [name];
  return (tool.tools ?? []).map((inner, index) => {
    const at = `${path}.tools.${index}.name`;
    const innerName = textAt(inner.name, at);
    if (innerName === undefined) throw refused(at, 'is required');
    return functionName({ name: innerName, namespace: name });
  });
}

/** Converts the content of a message or of a result. Parts without any text are left out. */
function piecesOf(content: Content, path: string): Piece<TextContent | ImageContent>[] {
  if (typeof content === 'string') return textPiece(content, path);
  return content.flatMap((part, index): Piece<TextContent | ImageContent>[] => {
    const at = `${path}.${index}`;
    return part.type === 'input_image' ? [{ content: imageOf(part, at), path: at }] : textPiece(textOf(part), at);
  });
}

/** Joins the texts of a list of parts, such as a summary. */
function joinedTexts(parts: readonly TextPart[] | null | undefined): string {
  const texts = (parts ?? []).map(textOf);
  return texts.filter((text) => text !== '').join('\n\n');
}

function textPiece(text: string, path: string): Piece<TextContent>[] {
  return text === '' ? [] : [{ content: { type: 'text', text }, path }];
}

function textOf(part: TextPart): string {
  return part.type === 'refusal' ? part.refusal : part.text;
}

function imageOf({ image_url, detail }: Extract<Part, { type: 'input_image' }>, path: string): ImageContent {
  if (image_url !== undefined && image_url !== null) return { type: 'image', url: image_url, ...detailOf(detail) };
  throw refused(`${path}.image_url`, 'must be a data URL or an https URL, because the service keeps no files');
}
