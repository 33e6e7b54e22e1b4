import type { Message, ToolResult } from '../../contract/conversation.js';

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
