import type { Tool } from '../../../plugin-api/core/upstreams.js';
import { customTool, functionOf } from '../shared/custom-tools.js';
import type { Members } from '../shared/members.js';

/** What a call of a function is in the format. The conversation has functions only. */
export interface ToolOrigin {
  /** `custom`: a tool whose input is a text. `tool_search`: a search that the client runs. */
  readonly kind: 'function' | 'custom' | 'tool_search';
  readonly name: string;
  readonly namespace?: string | undefined;
}

/** A tool of a request, as a function of the conversation. */
export interface OfferedTool {
  readonly tool: Tool;
  readonly origin: ToolOrigin;
  /** The path of the tool in the body. */
  readonly path: string;
}

export const SEARCH_NAME = 'tool_search';
/** Tools that the client runs, and whose form only the models of OpenAI know. Without them, the client could not do its work. */
const OF_CLIENT: ReadonlySet<string> = new Set([
  'local_shell',
  'shell',
  'apply_patch',
  'computer',
  'computer_use_preview',
]);

/** Returns the name of the function for a tool. */
export function functionName({ name, namespace }: Pick<ToolOrigin, 'name' | 'namespace'>): string {
  return namespace === undefined ? name : `${namespace}__${name}`;
}

/**
 * Returns the functions for a tool: the functions of a namespace, and none for a tool that a service would run. Such a tool is only
 * offered, so the model can do without it.
 *
 * @param ignore names a tool that is left out.
 * @throws {ServiceError} `invalid_request`.
 */
export function offeredTools(tool: Members, ignore: (member: string) => void): OfferedTool[] {
  const type = tool.requiredText('type');
  if (type === 'namespace') {
    const namespace = tool.requiredText('name');
    const about = tool.text('description');
    return (tool.objects('tools') ?? []).flatMap((inner) => functionsOf(inner, ignore, { namespace, about }));
  }
  return functionsOf(tool, ignore);
}

interface Namespace {
  readonly namespace: string;
  readonly about: string | undefined;
}

function functionsOf(tool: Members, ignore: (member: string) => void, of?: Namespace): OfferedTool[] {
  const type = tool.requiredText('type');
  switch (type) {
    case 'function':
      return [offered(functionOf(tool), 'function', tool, of)];
    case 'custom': {
      const format = tool.inner('format');
      return [offered(customTool(tool, format?.text('type') === 'grammar' ? format : undefined), 'custom', tool, of)];
    }
    case SEARCH_NAME: {
      const parameters = tool.json('parameters');
      if (tool.text('execution') !== 'client' || parameters === undefined) break;
      const search = { name: SEARCH_NAME, description: tool.text('description'), parameters };
      return [offered(search, 'tool_search', tool, undefined)];
    }
    default:
      if (OF_CLIENT.has(type)) throw tool.refused('type', `must be function or custom: ${type} is not available`);
  }
  ignore(`tools.${type}`);
  return [];
}

function offered(tool: Tool, kind: ToolOrigin['kind'], { path }: Members, of: Namespace | undefined): OfferedTool {
  const origin: ToolOrigin = { kind, name: tool.name, ...(of !== undefined && { namespace: of.namespace }) };
  const description = tool.description === undefined || tool.description === '' ? of?.about : tool.description;
  return { tool: { ...tool, name: functionName(origin), description }, origin, path };
}
