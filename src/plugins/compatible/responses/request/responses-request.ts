import { DEFAULT_TEMPERATURE } from '../../../../plugin-api/core/chat.js';
import { asArrived, isJsonLonger, Steps } from '../../../../plugin-api/core/common.js';
import { generationOptionsOf } from '../../../../plugin-api/core/config.js';
import type { BodyParser } from '../../../../plugin-api/core/http.js';
import type { ConversationRequest, ResponseFormat } from '../../../../plugin-api/core/upstreams.js';
import { renamed, type BodyNames } from '../../shared/error-formats.js';
import { type SentBody, checkedBody, ignoredPaths, refused, type Ignore } from '../../shared/checked-body.js';
import { effortOf } from '../../shared/common-members.js';
import type { CompatibleRequest } from '../../shared/compatible-answers.js';
import { MAX_COMPATIBLE_BODY_BYTES } from '../../shared/surface-options.js';
import { type ToolOrigin, toolsOf } from '../offered-tools.js';
import type { ReasoningForm } from '../response/output-items.js';
import type { ResponseSettings } from '../response/response-resource.js';
import { InputItems, type Draft } from './input-items.js';
import { ResponsesBody } from './responses-body.js';
import type { ToolBody, ToolChoice } from './tool-schemas.js';

/** Longer instructions and tools are not repeated, because each stream repeats them three times. In UTF-16 units of JSON. */
const MAX_REPEATED = 1024 * 1024;

/**
 * Returns what the response repeats of a request. Without a value, it is the default of Open Responses.
 *
 * @param sent the body with all of its members.
 */
function settingsOf(body: ResponsesBody, conversation: ConversationRequest, sent: SentBody): ResponseSettings {
  const { reasoning } = body;
  const sentTools = sent['tools'] as readonly SentBody[];
  const repeated = {
    instructions: body.instructions ?? null,
    tools: (body.tools ?? []).flatMap((tool, index) => toolOf(tool, sentTools[index] ?? {})),
  };
  return {
    ...(isJsonLonger(repeated, MAX_REPEATED) ? { instructions: null, tools: [] } : repeated),
    tool_choice: toolChoiceOf(body.tool_choice ?? 'auto'),
    parallel_tool_calls: conversation.parallel_tool_calls ?? true,
    text: { format: formatOf(conversation.response_format) },
    temperature: conversation.temperature ?? (conversation.top_p === undefined ? DEFAULT_TEMPERATURE : 1),
    top_p: conversation.top_p ?? 1,
    presence_penalty: conversation.presence_penalty ?? 0,
    frequency_penalty: conversation.frequency_penalty ?? 0,
    reasoning: { effort: reasoning?.effort ?? null, summary: reasoning?.summary ?? null },
    max_output_tokens: conversation.max_tokens ?? null,
  };
}

/** Returns what the response has of a tool: nothing of a tool that is left out. */
function toolOf(tool: ToolBody, sent: SentBody): object[] {
  switch (tool.type) {
    case 'function': {
      const { type, name, description = null, parameters, strict = null } = tool;
      return [{ type, name, description, parameters: parameters ? asArrived(parameters) : null, strict }];
    }
    case 'custom': {
      const { type, name, description = null } = tool;
      return [{ type, name, description, format: sent['format'] ?? { type: 'text' } }];
    }
    case 'namespace': {
      const { type, name, description = null } = tool;
      return [{ type, name, description, tools: sent['tools'] ?? [] }];
    }
    default:
      return [];
  }
}

function toolChoiceOf(choice: ToolChoice): unknown {
  if (typeof choice === 'string') return choice;
  const { type } = choice;
  if (type !== 'allowed_tools') return { type, name: choice.name };
  const tools = choice.tools.map((tool) => ({ type: tool.type ?? undefined, name: tool.name ?? undefined }));
  return { type, tools, mode: choice.mode ?? 'auto' };
}

function formatOf(format: ResponseFormat | undefined): object {
  if (format?.type === 'json') return { type: 'json_object' };
  if (format?.type !== 'json_schema') return { type: 'text' };
  const { name, description = null, schema, strict = false } = format;
  return { type: 'json_schema', name, description, schema: asArrived(schema), strict };
}

/** A valid request of `POST /responses`. */
export interface ResponsesRequest extends CompatibleRequest {
  /** A summary if the client asks for one. Otherwise the reasoning as the provider shows it. */
  readonly reasoningForm: ReasoningForm;
  /** The members of the request that the response repeats. */
  readonly settings: ResponseSettings;
  /** What each function of the conversation is in the format, by the name of the function. */
  readonly origins: ReadonlyMap<string, ToolOrigin>;
  /** The paths of the messages in the body. */
  readonly drafts: readonly Draft[];
}

/** Converts the bodies of `POST /responses`. The service checks the conversation itself, such as the URLs of images. */
export const RESPONSES_BODY: BodyParser<ResponsesRequest> = {
  maxBytes: MAX_COMPATIBLE_BODY_BYTES,
  async parse(sent, ignore) {
    const body = checkedBody(ResponsesBody, sent);
    const items = await inputOf(body, sent, ignore);
    const summary = body.reasoning?.summary ?? undefined;
    const effort = items.effort ?? effortOf(body.reasoning?.effort);
    const { toolUse, origins } = toolsOf(body, items.tools, ignore);
    const conversation: ConversationRequest = {
      model: body.model,
      messages: items.messages(),
      max_tokens: body.max_output_tokens ?? undefined,
      ...generationOptionsOf(body),
      ...toolUse,
      response_format: responseFormatOf(body),
      ...((effort ?? summary) !== undefined && {
        reasoning: { effort, ...(summary !== undefined && { include_text: true }) },
      }),
    };
    const settings = settingsOf(body, conversation, sent);
    for (const path of [...withoutEffect(body), ...ignoredPaths(sent, body)]) ignore(path);
    const reasoningForm = summary === undefined ? 'content' : 'summary';
    const isStream = body.stream ?? false;
    return { conversation, model: body.model, isStream, reasoningForm, settings, origins, drafts: items.drafts };
  },
};

async function inputOf(body: ResponsesBody, sent: SentBody, ignore: Ignore): Promise<InputItems> {
  const items = new InputItems(ignore);
  items.addText('system', body.instructions ?? '', 'instructions');
  const instructions = items.drafts.length;
  const { input } = body;
  if (typeof input === 'string') items.addText('user', input, 'input');
  else {
    const steps = new Steps();
    const sentItems = sent['input'] as readonly SentBody[];
    for (const [index, item] of input.entries()) {
      const place = { path: `input.${index}`, isLast: index === input.length - 1, sent: sentItems[index] ?? {} };
      items.addItem(item, place);
      if (steps.isOver) await steps.next();
    }
  }
  if (items.drafts.length > instructions) return items;
  throw refused('input', 'must be a text or an array of items, and must not be empty');
}

function responseFormatOf({ text }: ResponsesBody): ResponseFormat | undefined {
  const format = text?.format ?? undefined;
  if (format === undefined || format.type === 'text') return undefined;
  if (format.type === 'json_object' || !format.schema) return { type: 'json' };
  return {
    type: 'json_schema',
    name: format.name ?? 'response',
    description: format.description ?? undefined,
    schema: format.schema,
    strict: format.strict ?? undefined,
  };
}

/** Yields the members with a value that asks for what the service does not do. */
function* withoutEffect({ store, truncation, include }: ResponsesBody): Generator<string, void> {
  if ((store ?? false) !== false) yield 'store';
  if ((truncation ?? 'disabled') !== 'disabled') yield 'truncation';
  // The encrypted reasoning is always part of the response, because the next turn needs it.
  if (include?.some((entry) => entry !== 'reasoning.encrypted_content') === true) yield 'include';
}

const NAMES: BodyNames['members'] = [
  [/^max_tokens(?=\.|$)/, 'max_output_tokens'],
  [/^response_format(?=\.|$)/, 'text.format'],
  [/^tool_choice\.tool(?=\.|$)/, 'tool_choice.name'],
];

const MEMBERS_OF_CONTENT: Readonly<Record<string, string>> = {
  json: 'arguments',
  url: 'image_url',
  toolCallId: 'call_id',
  id: 'call_id',
  content: 'output',
};

/** Returns the path in the body for a path in the conversation, such as `input.3.content` for `messages.2.content`. */
export function bodyField(field: string, { drafts }: Pick<ResponsesRequest, 'drafts'>): string {
  const [member = '', message = '', content, piece = '', ...rest] = field.split('.');
  if (member !== 'messages') return renamed(field, NAMES);
  const draft = drafts[Number(message)];
  if (message === '' || draft === undefined) return 'input';
  const { path = draft.path } = draft.pieces[content === 'content' ? Number(piece) : -1] ?? {};
  return [path, ...rest.map((name) => MEMBERS_OF_CONTENT[name] ?? name)].join('.');
}
