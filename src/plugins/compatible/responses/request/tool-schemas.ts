import { z } from 'zod';
import { isObject } from '../../../../plugin-api/core/common.js';
import * as member from '../../shared/common-members.js';
import * as definition from '../../shared/custom-tools.js';
import { listOf, ofType, variantOf } from '../../shared/checked-body.js';

export const MODES = ['auto', 'none', 'required'] as const;
export const SEARCH_NAME = 'tool_search';

/** Tools that the client runs, and whose form only the models of OpenAI know. Without them, the client could not do its work. */
const OF_CLIENT: ReadonlySet<unknown> = new Set([
  ...['local_shell', 'shell', 'apply_patch', 'computer', 'computer_use_preview'],
]);
const ClientTool = member.refusedType((type) => `must be function or custom: ${String(type)} is not available`);

const Grammar = definition.Grammar.extend({ type: z.literal('grammar') });
const OtherFormat = z.object({ type: member.text });
const NoGrammar = OtherFormat.transform(() => undefined);
const Format = variantOf([Grammar, OtherFormat], (format) => ofType({ grammar: Grammar }, format) ?? NoGrammar);

const TOOLS = {
  function: definition.FunctionTool.extend({ type: z.literal('function') }),
  custom: definition.CustomTool.extend({ type: z.literal('custom'), format: Format.nullish() }),
};
const SearchTool = z.object({
  type: z.literal(SEARCH_NAME),
  execution: z.literal('client'),
  description: member.text,
  parameters: member.schemaObject,
});

/** A tool that a service would run. It is left out. */
const OtherTool = z
  .looseObject({ type: z.string() })
  .describe(
    'A `namespace` of functions, a `custom` tool, or a `tool_search` of the client. Tools of a service are left out.',
  );
const leftOut = (members: About) =>
  z
    .object({ type: z.string(), ...members })
    .transform(({ type, name }) => ({ type: 'other' as const, typeName: type, name }));

type About = Readonly<Record<'name' | 'description', z.ZodType>>;

/** @param about the members of tools of each type. */
function toolOf(about: About) {
  const Search = SearchTool.extend({ name: about.name });
  const OtherSearch = leftOut({ ...about, ...{ execution: member.text, parameters: member.schemaObject.nullish() } });
  const Other = leftOut(about);
  return (tool: unknown) => {
    const type = isObject(tool) ? tool['type'] : undefined;
    if (OF_CLIENT.has(type)) return ClientTool;
    if (!isObject(tool) || type !== SEARCH_NAME) return ofType(TOOLS, tool) ?? Other;
    return tool['execution'] === 'client' && isObject(tool['parameters']) ? Search : OtherSearch;
  };
}

const unread = z.unknown().optional();
const ofItem = toolOf({ name: unread, description: unread });
const Namespace = definition.CustomTool.extend({
  type: z.literal('namespace'),
  tools: listOf(variantOf([], ofItem)).nullish(),
});
const withNamespaces = (choose: ReturnType<typeof toolOf>) => {
  return variantOf([TOOLS.function, OtherTool], (tool) => ofType({ namespace: Namespace }, tool) ?? choose(tool));
};

/** A tool of the body, which the response repeats. */
export const Tool = withNamespaces(toolOf({ name: member.text, description: member.text }));
/** A tool of an item. */
export const ItemTool = withNamespaces(ofItem);

const Chosen = z.object({ type: z.enum(['function', 'custom']), name: member.toolName, namespace: member.text });
const OtherChosen = z.looseObject({ type: member.text, name: member.text, namespace: member.text });
const NotChosen = z.object({ type: member.text, name: member.text });
const AllowedTool = variantOf([OtherChosen], (tool) => ofType({ function: Chosen, custom: Chosen }, tool) ?? NotChosen);

export const ToolChoice = z.union(
  [
    z.enum(MODES),
    z.discriminatedUnion(
      'type',
      [
        Chosen,
        z.object({
          type: z.literal('allowed_tools'),
          tools: listOf(AllowedTool).min(1),
          mode: z.enum(MODES).nullish(),
        }),
      ],
      { error: 'must be function, custom or allowed_tools: the service runs no tools of its own' },
    ),
  ],
  { error: `must be one of ${MODES.join(', ')}` },
);

export type ToolBody = z.infer<typeof Tool>;
export type Chosen = z.infer<typeof Chosen>;
export type AllowedTool = z.infer<typeof AllowedTool>;
export type ToolChoice = z.infer<typeof ToolChoice>;
