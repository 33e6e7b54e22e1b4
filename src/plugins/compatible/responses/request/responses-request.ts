import { Steps } from '../../../../plugin-api/core/common.js';
import type { BodyParser } from '../../../../plugin-api/core/http.js';
import type { ConversationRequest, ResponseFormat } from '../../../../plugin-api/core/upstreams.js';
import type { CompatibleRequest } from '../../shared/compatible-answers.js';
import { effortOf } from '../../shared/body-fields.js';
import { MAX_COMPATIBLE_BODY_BYTES } from '../../shared/surface-options.js';
import { Members } from '../../shared/members.js';
import type { ReasoningForm } from '../response/reasoning-item.js';
import type { ResponseSettings } from '../response/response-resource.js';
import { InputItems, type Draft } from './input-items.js';
import { nameIgnored, refuseUnsupported } from './refused-members.js';
import { settingsOf } from './response-settings.js';
import type { ToolOrigin } from '../offered-tools.js';
import { toolsOf } from './tools.js';

export const SUMMARIES = ['auto', 'concise', 'detailed'] as const;
/** The items of one turn are one message, so there are more items than messages. */
export const MAX_ITEMS = 10_000;

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
  async parse(object, ignore) {
    const body = new Members(object);
    refuseUnsupported(body);
    const text = body.inner('text');
    const reasoning = body.inner('reasoning');
    const sentEffort = reasoning && effortOf(reasoning, 'effort');
    const summary = reasoning?.oneOf('summary', SUMMARIES);
    const model = body.requiredText('model');
    const items = await inputOf(body, ignore);
    const effort = items.effort ?? sentEffort;
    const { toolUse, origins } = toolsOf(body, items.tools, ignore);
    const conversation: ConversationRequest = {
      model,
      messages: items.messages(),
      max_tokens: body.number('max_output_tokens'),
      temperature: body.number('temperature'),
      top_p: body.number('top_p'),
      presence_penalty: body.number('presence_penalty'),
      frequency_penalty: body.number('frequency_penalty'),
      ...toolUse,
      response_format: text && responseFormatOf(text),
      ...((effort ?? summary) !== undefined && {
        reasoning: { effort, ...(summary !== undefined && { include_text: true }) },
      }),
    };
    const isStream = body.boolean('stream') ?? false;
    const settings = settingsOf(body, conversation);
    nameIgnored(body, ignore);
    const reasoningForm = summary === undefined ? 'content' : 'summary';
    return { conversation, isStream, reasoningForm, settings, origins, drafts: items.drafts };
  },
};

async function inputOf(body: Members, ignore: (member: string) => void): Promise<InputItems> {
  const items = new InputItems(ignore);
  items.addText('system', body.text('instructions') ?? '', 'instructions');
  const instructions = items.drafts.length;
  const input = body.any('input');
  if (typeof input === 'string') items.addText('user', input, 'input');
  else if (Array.isArray(input)) {
    if (input.length > MAX_ITEMS) throw body.refused('input', `must have at most ${MAX_ITEMS} items`);
    const steps = new Steps();
    for (const [index, item] of input.entries()) {
      items.addItem(Members.of(item, `input.${index}`), index === input.length - 1);
      if (steps.isOver) await steps.next();
    }
  }
  if (items.drafts.length === instructions) {
    if (input === undefined && instructions === 0) throw body.refused('input', 'is required');
    throw body.refused('input', 'must be a text or an array of items, and must not be empty');
  }
  return items;
}

/** Reads `format` of the member `text`. @throws {ServiceError} `invalid_request`. */
function responseFormatOf(text: Members): ResponseFormat | undefined {
  const format = text.inner('format');
  if (format === undefined) return undefined;
  const type = format.required('type', format.oneOf('type', ['text', 'json_object', 'json_schema']));
  if (type === 'text') return undefined;
  const schema = format.json('schema');
  // Open Responses does not require the schema. Without a schema, any JSON object is valid.
  if (type === 'json_object' || schema === undefined) return { type: 'json' };
  return {
    type: 'json_schema',
    name: format.text('name') ?? 'response',
    description: format.text('description'),
    schema,
    strict: format.boolean('strict'),
  };
}
