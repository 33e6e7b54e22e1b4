import type { ErrorDetail } from '../../common/service-error.js';
import { UNKNOWN_MEMBER } from '../../http/request/invalid-request.js';
import type { Role } from '../../upstreams/contract/chat-call.js';

export const ROLES: readonly Role[] = ['system', 'user', 'assistant'];
export const MODEL_ID = /^[^/\s]+\/\S+$/;
export const LONGEST_MODEL_ID = 256;
export const MOST_MESSAGES = 1000;
export const HIGHEST_TEMPERATURE = 2;

const MEMBERS = new Set(['model', 'messages', 'temperature', 'max_tokens']);
const MEMBERS_OF_MESSAGE = new Set(['role', 'content']);

/** The error messages for values that violate a rule. */
export const MUST = {
  beString: 'must be a string',
  notBeEmpty: 'must not be empty',
  beModelId: 'must have the form <vendor>/<model_name>',
  beShort: `must not be longer than ${LONGEST_MODEL_ID} characters`,
  beArray: 'must be an array',
  holdOneMessage: 'must contain at least one message',
  holdFewMessages: `must contain at most ${MOST_MESSAGES} messages`,
  holdObjects: 'must contain only objects',
  beObject: 'must be an object',
  beRole: `must be one of ${ROLES.join(', ')}`,
  beNumber: 'must be a number',
  notBeNegative: 'must be at least 0',
  notBeHot: `must be at most ${HIGHEST_TEMPERATURE}`,
  beInteger: 'must be an integer',
  beOne: 'must be at least 1',
} as const;

type Members = Readonly<Record<string, unknown>>;

/** Applies the rules of the decorators of `ChatRequest` in one pass. Yields each invalid member once, outer members first. */
export function* chatRequestProblems(body: object): Generator<ErrorDetail> {
  const { model, messages, temperature, max_tokens: maxTokens } = body as Members;
  yield* unknownMembers(body, MEMBERS);
  yield* problem('model', modelProblem(model));
  yield* problem('temperature', temperature === undefined ? undefined : temperatureProblem(temperature));
  yield* problem('max_tokens', maxTokens === undefined ? undefined : maxTokensProblem(maxTokens));
  const ofMessages = messagesProblem(messages);
  yield* problem('messages', ofMessages);
  if (ofMessages !== undefined) return;
  for (const [index, message] of (messages as Members[]).entries()) yield* messageProblems(message, index);
}

function* messageProblems(message: Members, index: number): Generator<ErrorDetail> {
  if (isUsualMessage(message)) return;
  const parent = `messages.${index}.`;
  yield* unknownMembers(message, MEMBERS_OF_MESSAGE, parent);
  yield* problem(`${parent}role`, ROLES.includes(message['role'] as Role) ? undefined : MUST.beRole);
  yield* problem(`${parent}content`, contentProblem(message['content']));
}

/** Checks for the usual form of a message, at the lowest cost. */
function isUsualMessage(message: Members): boolean {
  return (
    ROLES.includes(message['role'] as Role) &&
    contentProblem(message['content']) === undefined &&
    Object.keys(message).length === 2
  );
}

function* unknownMembers(value: object, known: ReadonlySet<string>, parent = ''): Generator<ErrorDetail> {
  for (const member of Object.keys(value)) {
    if (!known.has(member)) yield { field: `${parent}${member}`, message: UNKNOWN_MEMBER };
  }
}

function* problem(field: string, message: string | undefined): Generator<ErrorDetail> {
  if (message !== undefined) yield { field, message };
}

function modelProblem(model: unknown): string | undefined {
  if (typeof model !== 'string') return MUST.beString;
  if (model.length > LONGEST_MODEL_ID) return MUST.beShort;
  return MODEL_ID.test(model) ? undefined : MUST.beModelId;
}

function temperatureProblem(temperature: unknown): string | undefined {
  if (typeof temperature !== 'number' || !Number.isFinite(temperature)) return MUST.beNumber;
  if (temperature < 0) return MUST.notBeNegative;
  return temperature > HIGHEST_TEMPERATURE ? MUST.notBeHot : undefined;
}

function maxTokensProblem(maxTokens: unknown): string | undefined {
  if (!Number.isInteger(maxTokens)) return MUST.beInteger;
  return (maxTokens as number) < 1 ? MUST.beOne : undefined;
}

function messagesProblem(messages: unknown): string | undefined {
  if (!Array.isArray(messages)) return MUST.beArray;
  if (messages.length === 0) return MUST.holdOneMessage;
  if (messages.length > MOST_MESSAGES) return MUST.holdFewMessages;
  return messages.every(isObject) ? undefined : MUST.holdObjects;
}

function contentProblem(content: unknown): string | undefined {
  if (typeof content !== 'string') return MUST.beString;
  return content === '' ? MUST.notBeEmpty : undefined;
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
