import type { Tool } from '../../../plugin-api/core/upstreams.js';
import type { Ignore } from '../shared/checked-body.js';
import { customTool, functionOf } from '../shared/custom-tools.js';
import { SEARCH_NAME, type ToolBody } from './request/tool-schemas.js';

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
}

/** Returns the name of the function for a tool. */
export function functionName({ name, namespace }: Pick<ToolOrigin, 'name' | 'namespace'>): string {
  return namespace === undefined ? name : `${namespace}__${name}`;
}

interface Namespace {
  readonly name: string;
  readonly description?: string | null | undefined;
}

/**
 * Returns the functions for a tool: the functions of a namespace, and none for a tool that a service would run. Such a tool is only
 * offered, so the model can do without it.
 *
 * @param ignore names a tool that is left out.
 * @param namespace the namespace of the tool.
 */
export function offeredTools(tool: ToolBody, ignore: Ignore, namespace?: Namespace): OfferedTool[] {
  switch (tool.type) {
    case 'namespace':
      return (tool.tools ?? []).flatMap((inner) => offeredTools(inner, ignore, tool));
    case 'function':
      return [offered(functionOf(tool), 'function', namespace)];
    case 'custom':
      return [offered(customTool(tool, tool.format), 'custom', namespace)];
    case SEARCH_NAME: {
      const { description, parameters } = tool;
      return [offered({ name: SEARCH_NAME, description: description ?? undefined, parameters }, SEARCH_NAME)];
    }
    case 'other':
      ignore(`tools.${tool.typeName}`);
      return [];
  }
}

function offered(tool: Tool, kind: ToolOrigin['kind'], of?: Namespace): OfferedTool {
  const origin: ToolOrigin = { kind, name: tool.name, ...(of !== undefined && { namespace: of.name }) };
  const description = tool.description || (of?.description ?? undefined);
  return { tool: { ...tool, name: functionName(origin), description }, origin };
}
