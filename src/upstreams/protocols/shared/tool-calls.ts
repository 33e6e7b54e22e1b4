import { randomBytes } from 'node:crypto';
import { jsonSource, rawJson } from '../../../platform/common/json/json-source.js';
import type { StreamPart } from '../../contract/stream-part.js';
import { isText, parseJsonObject } from './json-object.js';
import type { Message, ToolResult } from '../../contract/conversation.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** The codes of `[` and `{`, and of `]` and `}`. */
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/** Finds the end of a JSON object that arrives in pieces. Reads each character once. */
export class JsonEnd {
  isReached = false;
  private depth = 0;
  private isInText = false;
  private isEscaped = false;

  read(piece: string): void {
    for (let index = 0; index < piece.length && !this.isReached; index += 1) this.readUnit(piece.charCodeAt(index));
  }

  private readUnit(unit: number): void {
    if (this.isEscaped) this.isEscaped = false;
    else if (this.isInText && unit === BACKSLASH) this.isEscaped = true;
    else if (unit === QUOTE) this.isInText = !this.isInText;
    else if (this.isInText) return;
    else if (OPENING.has(unit)) this.depth += 1;
    else if (CLOSING.has(unit)) {
      this.depth -= 1;
      this.isReached = this.depth === 0;
    }
  }
}

const ID_BYTES = 12;

/** Makes the id of a tool call, for a provider that sends none. It is unique, because the next turns refer to it. */
export function newToolCallId(): string {
  return `call_${randomBytes(ID_BYTES).toString('hex')}`;
}

/** A tool call that a provider sends in one piece. Each member may have any type. */
interface WholeCall {
  readonly id: unknown;
  readonly name: unknown;
  readonly args: unknown;
  readonly signature?: string | undefined;
}

/** Returns the JSON text of arguments. Without any, a call that is sent whole has none. */
function argumentsOf(args: unknown): string {
  if (args === undefined || args === null) return '';
  return typeof args === 'object' ? jsonSource(args) : JSON.stringify(args);
}

/** The name of the member for arguments that are no JSON object, as Anthropic's documentation proposes. */
const INVALID = 'INVALID_JSON';

/** Returns arguments as an object for `stringifyWithSources`: as the model has written them, for an interface that takes objects only. */
export function argumentsObject(json: string): object {
  return rawJson(() => (parseJsonObject(json) === undefined ? JSON.stringify({ [INVALID]: json }) : json));
}

/** Returns the parts of a tool call that a provider sends in one piece. */
export function wholeCallParts({ id, name, args, signature }: WholeCall): readonly StreamPart[] {
  const call = isText(id) ? id : newToolCallId();
  const json = typeof args === 'string' ? args : argumentsOf(args);
  return [
    {
      type: 'tool_call_start',
      id: call,
      name: isText(name) ? name : '',
      index: 0,
      ...(signature !== undefined && { signature }),
    },
    ...(json === '' ? [] : [{ type: 'tool_call_delta' as const, id: call, json }]),
    { type: 'tool_call_end', id: call },
  ];
}

/** Finds the name of the tool of a result, for providers that know results by names. Add the messages in their order. */
export class CalledNames {
  private readonly names = new Map<string, string>();

  add({ role, content }: Message): void {
    if (role !== 'assistant' || typeof content === 'string') return;
    for (const part of content) if (part.type === 'tool_call') this.names.set(part.id, part.name);
  }

  of({ toolCallId }: ToolResult): string {
    return this.names.get(toolCallId) ?? toolCallId;
  }
}
