import type { CountTokensBody, ToolBody } from './messages-body.js';

type SentBody = Readonly<Record<string, unknown>>;

/** Tools that the client runs, and whose form only the models of Anthropic know. Without them, the client could not do its work. */
const OF_CLIENT = /^(?:bash|browser|computer|memory|text_editor)_/;
const SEARCH = /^tool_search_tool_/;

/**
 * Leaves out the tools that Anthropic would run, such as a web search: they are only offered, so the model can do without them. A
 * search for tools is one of them, so the tools that it would find are no longer deferred.
 *
 * @param ignore names each tool that is left out.
 */
export function withoutServerTools(body: SentBody, ignore: (member: string) => void): SentBody {
  const { tools } = body;
  if (!Array.isArray(tools)) return body;
  const types = new Set((tools as unknown[]).map(serverTypeOf).filter((type) => type !== undefined));
  if (types.size === 0) return body;
  for (const type of types) ignore(`tools.${type}`);
  const left = (tools as unknown[]).filter((tool) => serverTypeOf(tool) === undefined);
  const hasSearch = [...types].some((type) => SEARCH.test(type));
  return { ...body, tools: hasSearch ? left.map((tool) => ({ ...(tool as object), defer_loading: false })) : left };
}

function serverTypeOf(tool: unknown): string | undefined {
  const type = typeof tool === 'object' && tool !== null && 'type' in tool ? tool.type : undefined;
  return typeof type === 'string' && type !== 'custom' && !OF_CLIENT.test(type) ? type : undefined;
}

/** Returns the tools that the model may see: a deferred tool is hidden until a result refers to it, or the choice names it. */
export function visibleTools({ tools, messages }: CountTokensBody, chosen?: string): readonly ToolBody[] {
  if (!tools?.some(({ defer_loading }) => defer_loading === true)) return tools ?? [];
  const found = new Set<string>(chosen === undefined ? [] : [chosen]);
  for (const { content } of messages) {
    for (const block of Array.isArray(content) ? content : []) {
      if (block.type !== 'tool_result' || !Array.isArray(block.content)) continue;
      for (const part of block.content) if (part.type === 'tool_reference') found.add(part.tool_name);
    }
  }
  return tools.filter(({ name, defer_loading }) => defer_loading !== true || found.has(name));
}
