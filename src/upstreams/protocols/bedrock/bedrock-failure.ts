import type { ResponseHeaders } from '../../contract/protocol.js';
import type {
  FailureKind,
  FailureScope,
  ProviderFailure,
  ProviderFailureCode,
} from '../../contract/provider-failure.js';
import { isJsonObject, isText, parseJsonObject, type JsonObject } from '../shared/json-object.js';
import { reportIn } from '../shared/provider-report.js';
import { failureOf, retryAfterSeconds } from '../shared/reported-failure.js';

interface Meaning {
  readonly code: ProviderFailureCode;
  readonly kind: FailureKind;
  readonly scope?: FailureScope;
}

const REJECTED: Meaning = { code: 'upstream_rejected', kind: 'rejected' };
const LIMITED: Meaning = { code: 'upstream_unavailable', kind: 'rate_limited' };
const OVERLOADED: Meaning = { code: 'upstream_unavailable', kind: 'server' };
const FAILED: Meaning = { code: 'upstream_error', kind: 'server' };
/** The operator has named something that AWS does not have. */
const MISCONFIGURED: Meaning = { code: 'upstream_error', kind: 'rejected' };
/** The identity is known, and has no permission for the model. */
const DENIED: Meaning = { code: 'upstream_error', kind: 'unauthorized' };
const REFUSED_KEY: Meaning = { ...DENIED, scope: 'upstream' };

/**
 * What the exceptions mean, by name in lower case and without the ending `exception`. The names decide, because the statuses do not: 400
 * is also a quota, and 424 a model that failed. Looked up on 2026-11-26: "Common errors" and "ConverseStream" of the Bedrock API reference.
 */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  validation: REJECTED,
  throttling: LIMITED,
  toomanyrequests: LIMITED,
  servicequotaexceeded: LIMITED,
  serviceunavailable: OVERLOADED,
  modelnotready: OVERLOADED,
  internalserver: FAILED,
  internalfailure: FAILED,
  modelerror: FAILED,
  modelstreamerror: FAILED,
  modeltimeout: { code: 'upstream_timeout', kind: 'timeout' },
  resourcenotfound: MISCONFIGURED,
  unknownoperation: MISCONFIGURED,
  accessdenied: DENIED,
  unrecognizedclient: REFUSED_KEY,
  invalidclienttokenid: REFUSED_KEY,
  invalidsignature: REFUSED_KEY,
  incompletesignature: REFUSED_KEY,
  missingauthenticationtoken: REFUSED_KEY,
  expiredtoken: REFUSED_KEY,
};

/** What Bedrock says in a `ValidationException` about the name of the model, which no caller has chosen. */
const ABOUT_THE_MODEL = /model identifier|on-demand throughput|inference profile|model id /i;

/** Converts a response that is not a stream. `undefined`: the name of the exception is unknown. */
export function bedrockHttpFailure(
  status: number,
  headers: ResponseHeaders,
  text: string,
): ProviderFailure | undefined {
  const body = parseJsonObject(text) ?? {};
  const output = isJsonObject(body.Output) ? body.Output : {};
  const [named, wait] = [headers['x-amzn-errortype'], headers['retry-after']];
  const name = [named, body.__type, output.__type, body.code].find(isText);
  return bedrockFailure(name, body, status, isText(wait) ? retryAfterSeconds(wait, Date.now()) : undefined);
}

/**
 * Converts an exception of Bedrock. `undefined`: the name is unknown.
 *
 * @param name such as `ThrottlingException`, `throttlingException`, `com.amazon.coral#ThrottlingException` or with a URL after a colon.
 */
export function bedrockFailure(
  name: unknown,
  { message, Message }: JsonObject,
  status?: number,
  waitSeconds?: number,
): ProviderFailure | undefined {
  if (!isText(name)) return undefined;
  const [type = ''] = (name.split('#').at(-1) ?? '').split(':');
  const meaning = Object.hasOwn(MEANINGS, keyOf(type)) ? MEANINGS[keyOf(type)] : undefined;
  if (meaning === undefined) return undefined;
  const said = [message, Message].find(isText);
  const isOfModel = meaning === REJECTED && said !== undefined && ABOUT_THE_MODEL.test(said.slice(0, 1_000));
  const { code, kind, scope = 'route' } = isOfModel ? MISCONFIGURED : meaning;
  const report = reportIn({ type, message: code === 'upstream_error' ? undefined : said });
  return failureOf(code, type, report, {
    kind,
    scope,
    ...(status !== undefined && { status }),
    ...(code === 'upstream_unavailable' && { retryAfterSeconds: waitSeconds }),
  });
}

function keyOf(type: string): string {
  return type.toLowerCase().replace(/exception$/, '');
}
