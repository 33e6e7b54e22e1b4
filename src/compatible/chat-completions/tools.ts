import type { ResponseFormat, Tool, ToolChoice } from '../../upstreams/contract/conversation.js';
import { functionOf } from '../shared/function-tools.js';
import { isObject, Members } from '../shared/members.js';

export function toolsOf(tools: readonly unknown[]): Tool[] {
  return tools.map((value, index) => {
    const tool = Members.of(value, `tools.${index}`);
    if (tool.any('type') !== 'function') {
      throw tool.refused('type', 'must be function: the service runs no tools of its own');
    }
    return functionOf(tool.required('function', tool.inner('function')));
  });
}

export function toolChoiceOf(body: Members): ToolChoice | undefined {
  const choice = body.any('tool_choice');
  if (choice === undefined || choice === 'auto' || choice === 'none' || choice === 'required') return choice;
  const chosen = isObject(choice) ? body.inner('tool_choice') : undefined;
  const called = chosen?.any('type') === 'function' ? chosen.inner('function') : undefined;
  if (called === undefined) {
    throw body.refused('tool_choice', 'must be auto, none, required or {"type":"function","function":{"name":…}}');
  }
  return { tool: called.requiredText('name') };
}

export function responseFormatOf(body: Members): ResponseFormat | undefined {
  const format = body.inner('response_format');
  switch (format?.oneOf('type', ['text', 'json_object', 'json_schema'])) {
    case undefined:
      if (format !== undefined) throw format.refused('type', 'is required');
      return undefined;
    case 'text':
      return undefined;
    case 'json_object':
      return { type: 'json' };
    case 'json_schema': {
      const definition = format.required('json_schema', format.inner('json_schema'));
      return {
        type: 'json_schema',
        name: definition.requiredText('name'),
        description: definition.text('description'),
        schema: definition.json('schema') ?? {},
        strict: definition.boolean('strict'),
      };
    }
  }
}
