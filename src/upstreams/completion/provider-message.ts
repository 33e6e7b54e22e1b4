import type { ServiceError } from '../../platform/common/service-error.js';
import { cutText } from '../../platform/common/text/cut-text.js';
import type { UpstreamConfig } from '../../platform/config/config.js';
import { PROMPT_TOO_LONG, ProviderFailure } from '../contract/provider-failure.js';

/** What decides how the messages of a provider are shown. */
export type MessageSource = Pick<UpstreamConfig, 'apiKey' | 'baseUrl' | 'headers' | 'providerMessages'>;

const MAX_LENGTH = 500;
/** A longer message is cut before it is read. */
const MAX_READ_LENGTH = 2_000;
/** What stands for a removed part of a message. */
const REMOVED = '[removed]';
/** A configured value that is shorter is no secret, and may be a word of a sentence. */
const MIN_SECRET_LENGTH = 6;

/** A message names a parameter if it has an identifier in quotes, an identifier that is no English word, or one of these words. */
const NAMES_PARAMETER = new RegExp(
  [
    /["'`‘“][\w.$[\]-]{1,100}["'`’”]/,
    /\b[a-z]+(?:_[a-z]+)+\b|\b[a-z]+[A-Z][a-z]\w*|\b[a-z_]+(?:\.\d|\[\d)/,
    /\b(?:temperature|tools?|functions?|messages|images?|audio|files?|documents?|prompt|input|schema|roles?|content)\b/,
    /\b(?:parameters?|thinking|reasoning|streaming|stop sequences?|logprobs|seed|penalty|response format|system)\b/,
  ]
    .map(({ source }) => source)
    .join('|'),
);
/** A message names a limit if it has a number and one of these words. */
const NAMES_LIMIT =
  /\b(?:limit|max(?:imum)?|min(?:imum)?|exceed\w*|too (?:long|large|many|big|high|low|short)|at (?:most|least)|than|range|tokens?)\b/i;

const PROMPT_IS_TOO_LONG = /prompt is too long/i;

/** A URL is removed first, because its parts are names and keys. */
const URL_IN_TEXT = /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s"'`<>)\]}]*[^\s"'`<>)\]}.,;:!?]/gi;

/** What is removed from a message, in this order. The patterns read a message of any content in linear time. */
const REMOVALS: readonly RegExp[] = [
  // Keys: with a mask, after their scheme, with the prefixes of providers, and tokens in three parts.
  /[\w.:/-]{0,64}\*{3,300}[\w-]{0,64}/g,
  /\b(?:Bearer|Basic)\s+[\w.~+/=-]{6,}/gi,
  /\b(?:sk|pk|rk|gsk|xai|hf|r8|nvapi|fw|pplx|csk|AIza|AKIA|ASIA|ya29|ghp|glpat|tgp|key|api[_-]?key)[-_.]?(?=[\w-]*\d)[\w-]{8,}/gi,
  /\beyJ[\w-]{5,}(?:\.[\w-]+){0,2}/g,
  // Addresses: ARNs, mail, names of hosts, IP.
  /\barn:[\w-]*:[^\s"'`,)]+/gi,
  /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+/g,
  /\b(?:[a-z0-9-]{1,63}\.){1,8}(?:com|ai|io|net|org|dev|cloud|app|co|internal|local|lan|corp|svc|eu|us|cn)\b(?::\d{1,5})?(?:\/[^\s"'`<>)\]}]*)?/gi,
  /\blocalhost(?::\d{1,5})?(?:\/[^\s"'`<>)\]}]*)?/gi,
  /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?(?![\d.]*\d)/g,
  /(?<![\w:])\[?(?:[0-9a-f]{0,4}:){3,7}[0-9a-f]{1,4}\]?(?::\d{1,5})?(?![\w:])/gi,
  // Ids of the account: UUIDs, ids with a prefix, models that were trained for it, projects and resources, numbers of AWS accounts, other long tokens.
  /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi,
  /\b(?:org|organization|proj|project|user|acct|account|team|req|request|ws|workspace|wrkspc|sub|subscription|cus|tenant|deployment|chatcmpl|gen|msg|resp|trace|ap)[-_](?=[\w-]*(?:\d|[a-z][A-Z]|x{4}))[\w-]{5,}/g,
  /\borg[-_][\w-]{6,}/gi,
  /\b(?:project_number|projects?|consumer|subscriptions|resourceGroups|accounts|organizations|workspaces|tenants)[:/]['"]?[\w:./-]+/gi,
  /\bft:[\w.:-]{6,}/g,
  /\b(?:project|organization|account|tenant|subscription|workspace|deployment|request)(?: ?id)?[ :=]+['"`]?(?=[\w-]*\d)[\w-]{6,}/gi,
  /(?<![\w.])\d{12}(?![\w.])/g,
  /\b(?=[\w+/=]*\d)(?=[\w+/=]*[a-z])[\w+=]{32,}/gi,
  // Paths of files.
  /(?<![\w.])\/(?:usr|home|root|var|opt|etc|tmp|app|srv|mnt|data|proc|workspace|Users|private|nix|lib)\/[^\s"'`:,)]*/g,
  /\b[A-Z]:\\[^\s"'`,)]+/g,
];

/**
 * Returns the failure as the caller gets it. If the provider names a parameter or a limit, the failure has the message of the
 * provider, in one line of plain text without keys, addresses and ids of the account, and the name of the parameter.
 */
export function toldFailure(failure: ServiceError, source: MessageSource): ServiceError {
  if (!(failure instanceof ProviderFailure) || source.providerMessages === 'hidden') return failure;
  const { code, failureCause, providerMessage, isPromptTooLong: isTooLong } = failure;
  if (providerMessage === undefined || !['rejected', 'rate_limited'].includes(failureCause.kind)) return failure;
  const { param } = failureCause;
  const message = cleanedMessage(providerMessage, source);
  if (param === undefined && !namesCause(message)) return failure;
  return new ProviderFailure(code as ConstructorParameters<typeof ProviderFailure>[0], told(message, isTooLong), {
    ...(param !== undefined && { details: [{ field: param, message: 'The provider refuses this parameter.' }] }),
    ...(failure.retryAfterSeconds !== undefined && { retryAfterSeconds: failure.retryAfterSeconds }),
    ...{ headers: failure.headers, status: failure.status, cause: failure.cause },
    ...{ scope: failure.scope, isPromptTooLong: isTooLong, failureCause, providerMessage },
  });
}

function told(message: string, isTooLong: boolean): string {
  // Clients of Anthropic look for these words.
  const whole = isTooLong && !PROMPT_IS_TOO_LONG.test(message) ? `${PROMPT_TOO_LONG} ${message}` : message;
  return cutText(whole, MAX_LENGTH);
}

function namesCause(message: string): boolean {
  const words = message.replaceAll(REMOVED, '');
  return NAMES_PARAMETER.test(words) || (/\d/.test(words) && NAMES_LIMIT.test(words));
}

/** Returns a message of a provider in one line of plain text, without keys, addresses and ids of the account. */
function cleanedMessage(
  message: string,
  { apiKey, baseUrl, headers }: Omit<MessageSource, 'providerMessages'>,
): string {
  const secrets = [apiKey, baseUrl?.host, baseUrl?.hostname, ...Object.values(headers)];
  let text = plainText(message.slice(0, MAX_READ_LENGTH)).replaceAll(URL_IN_TEXT, REMOVED);
  for (const secret of secrets.sort((one = '', other = '') => other.length - one.length)) {
    if (secret !== undefined && secret.length >= MIN_SECRET_LENGTH) text = text.replaceAll(secret, REMOVED);
  }
  for (const pattern of REMOVALS) text = text.replaceAll(pattern, REMOVED);
  return text;
}

/** Removes markup, colours of terminals and invisible characters, and joins the lines. */
function plainText(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/\u001b\[[\d;]{0,20}[a-z]/gi, '')
    .replaceAll(/<\/?[a-z!][^<>]{0,500}>/gi, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\p{C}/gu, '')
    .trim();
}
