import { isJsonObject, isText, parseJsonObject, type JsonObject } from './json-object.js';

/** The error of a provider. No member is checked: use {@link shownCause} for a log. */
export interface ProviderReport {
  /** The words and numbers that classify the failure. */
  readonly labels: readonly (string | number)[];
  readonly type?: string | number | undefined;
  readonly code?: string | number | undefined;
  readonly param?: string | undefined;
  /** What the provider says. It can repeat the prompt, and contain a key. */
  readonly message?: string | undefined;
}

/** How many errors can be inside each other: a gateway reports the error of its provider. */
const MAX_DEPTH = 3;
/** A longer message is cut before it is read. */
const MAX_MESSAGE_LENGTH = 2_000;
/** The shape of a label such as `rate_limit_exceeded`. A sentence of a conversation or a key does not have this shape. */
const IDENTIFIER = /^[A-Z][A-Z_.-]{0,63}$/i;
/** The shape of an HTTP status or of an error code. */
const SHORT_NUMBER = /^\d{1,5}$/;
/** The shape of the path of a parameter, such as `max_tokens`, `tools[0].name` or `messages.1.content`. */
const PATH = /^[a-z_]{1,40}(?:\.[a-z_]{1,40}|\.\d{1,5}|\[\d{1,5}\]){0,12}$/i;
/** Anthropic and some gateways begin a message with the path of the parameter. */
const LEADING_PATH =
  /^(?!(?:error|exception|event|data|message|detail|upstream|provider|request|response): )([a-z_]+(?:\.\w+)*): /;

/** The members that hold what a provider says. Not all gateways have `message`. */
const MESSAGES = [
  'message',
  'Message',
  'msg',
  'error_msg',
  'error_message',
  'errorMessage',
  'status_msg',
  'faultstring',
];
/** The members that hold the code of an error. */
const CODES = ['code', 'error_code', 'errorCode', 'status_code'];
/** The members that hold an error inside of another object, if that object says nothing itself. */
const INNER = ['error', 'errors', 'detail', 'fault', 'base_resp'];
/** JSON at the end of a text, such as `OpenAIException - {"error":…}` of LiteLLM. */
const JSON_AT_THE_END = /^[^{]{0,300}(\{[\s\S]*\})[^}]{0,3}$/;

/**
 * Reads the error of a provider.
 *
 * @param error the error value: usually an object with `message`, `type` and `code`, sometimes a text or a list.
 * @param envelope the object that has `error` as a member. Some providers put the code into this object.
 */
export function reportIn(error: unknown, envelope: JsonObject = {}, depth = 1): ProviderReport {
  const [first] = Array.isArray(error) ? (error as readonly unknown[]) : [error];
  const report = isJsonObject(first) ? first : envelope;
  const metadata = isJsonObject(report.metadata) ? report.metadata : {};
  const violation = firstViolation(report);
  const said = MESSAGES.map((name) => report[name]).map((value) => textOf(Array.isArray(value) ? value[0] : value));
  const message = longer(textOf(first), said.find(isText)) ?? violation?.message;
  const inner = depth < MAX_DEPTH ? innerReport(report, metadata, message, depth) : undefined;
  const param = textOf(report.param) ?? violation?.param;
  const code = CODES.map((name) => report[name]).find(isLabel);
  const labels = [report.type, code, report.status, report.error_type, metadata.error_type].filter(isLabel);
  return {
    labels: labels.length === 0 ? (inner?.labels ?? labels) : labels,
    type: inner?.type ?? [report.type, report.status, report.error_type, metadata.error_type].find(isText),
    code: inner?.code ?? code,
    param: inner?.message === undefined ? (inner?.param ?? paramOf(param, message)) : inner.param,
    message: inner?.message ?? withSentence(message, param),
  };
}

/**
 * The error of the provider behind a gateway: as JSON text in the message, in the metadata of OpenRouter, or as an object in an object
 * without a message.
 */
function innerReport(
  report: JsonObject,
  { raw }: JsonObject,
  message: string | undefined,
  depth: number,
): ProviderReport | undefined {
  for (const text of [raw, message]) {
    const inner = isText(text) ? reportInText(text, depth) : undefined;
    if (inner !== undefined) return inner;
  }
  if (isText(raw)) return reportIn(raw);
  if (message !== undefined) return undefined;
  const inner = INNER.map((name) => report[name]).find((value) => isJsonObject(value) || Array.isArray(value));
  return inner === undefined ? undefined : reportIn(inner, {}, depth + 1);
}

/** Reads a text that is JSON, or ends with JSON that says something. */
function reportInText(text: string, depth: number): ProviderReport | undefined {
  const whole = parseJsonObject(text);
  if (whole !== undefined) return reportIn(whole.error ?? whole, whole, depth + 1);
  const end = parseJsonObject(JSON_AT_THE_END.exec(text)?.[1] ?? '');
  const inner = end && reportIn(end.error ?? end, end, depth + 1);
  return inner?.message === undefined ? undefined : inner;
}

/**
 * The first parameter that a provider names in a list of problems: `fieldViolations` of Google, or `loc` and `msg` of servers
 * in Python, such as Mistral and vLLM.
 */
function firstViolation({ message, detail, details }: JsonObject): { param?: string; message?: string } | undefined {
  if (isText(detail)) return { message: detail };
  const nested = isJsonObject(message) ? message.detail : message;
  for (const list of [detail, nested, details]) {
    const [problem] = Array.isArray(list) ? list.filter(isJsonObject) : [];
    if (problem === undefined) continue;
    const field = fieldViolation(list as unknown[]);
    if (field !== undefined) return { param: field };
    if (!Array.isArray(problem.loc) || !isText(problem.msg)) continue;
    const param = problem.loc.filter((part) => part !== 'body' && isLabel(part)).join('.');
    return { param, message: param === '' ? problem.msg : `${param}: ${problem.msg}` };
  }
  return undefined;
}

function fieldViolation(details: readonly unknown[]): string | undefined {
  const lists = details.filter(isJsonObject).map(({ fieldViolations }) => fieldViolations);
  const violations = lists.flatMap((list) => (Array.isArray(list) ? list.filter(isJsonObject) : []));
  return violations.map(({ field }) => field).find(isText);
}

function paramOf(param: string | undefined, message = ''): string | undefined {
  return param !== undefined && PATH.test(param) ? param : LEADING_PATH.exec(message)?.[1];
}

/** Some frameworks put the name of the status into `error`, and the reason into `message`. */
function longer(one: string | undefined, other: string | undefined): string | undefined {
  return (one?.length ?? 0) >= (other?.length ?? 0) ? one : other;
}

/** Some providers put a sentence about the parameter in the place of its name. */
function withSentence(message: string | undefined, param: string | undefined): string | undefined {
  if (message === undefined || param === undefined || !param.includes(' ')) return message;
  return `${message}: ${param}`;
}

function textOf(value: unknown): string | undefined {
  return isText(value) ? value.slice(0, MAX_MESSAGE_LENGTH) : undefined;
}

function isLabel(value: unknown): value is string | number {
  return typeof value === 'number' || isText(value);
}

/** Returns the members of a report that a log line may have, with `other` in place of each label that can be a text. */
export function shownCause({ type, code, param }: ProviderReport): { type?: string; code?: string; param?: string } {
  return {
    ...(type !== undefined && { type: loggedLabel(type) }),
    ...(code !== undefined && { code: loggedLabel(code) }),
    ...(param !== undefined && PATH.test(param) && { param }),
  };
}

/** Returns the labels for a log line. */
export function shownLabels(labels: readonly (string | number)[]): string {
  return [...new Set(labels.map(loggedLabel))].join(' ');
}

/** Returns the label of a provider for a log line: an identifier, a short number, or `other`. */
export function loggedLabel(label: string | number): string {
  const text = String(label);
  return IDENTIFIER.test(text) || SHORT_NUMBER.test(text) ? text : 'other';
}
