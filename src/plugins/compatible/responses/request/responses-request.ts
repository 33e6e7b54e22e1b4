import { Steps } from '../../../../plugin-api/core/common.js';
import { generationOptionsOf } from '../../../../plugin-api/core/config.js';
import type { BodyParser } from '../../../../plugin-api/core/http.js';
import type { ConversationRequest, ResponseFormat } from '../../../../plugin-api/core/upstreams.js';
import { checkedBody, ignoredPaths, refused, type Ignore, type SentBody } from '../../shared/checked-body.js';
import { effortOf } from '../../shared/common-members.js';
import type { CompatibleRequest } from '../../shared/compatible-answers.js';
import { MAX_COMPATIBLE_BODY_BYTES } from '../../shared/surface-options.js';
import type { ReasoningForm } from '../response/reasoning-item.js';
import type { ResponseSettings } from '../response/response-resource.js';
import type { ToolOrigin } from '../offered-tools.js';
import { InputItems, type Draft } from './input-items.js';
import { ResponsesBody } from './responses-body.js';
import { settingsOf } from './response-settings.js';
import { toolsOf } from './tools.js';

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
    return { conversation, isStream, reasoningForm, settings, origins, drafts: items.drafts };
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
