import type { ComponentChildren } from 'preact';
import type { ListedApiKey } from '../../../plugin-api/core/accounts.js';
import { KEY_LIMITS, type LimitDefinition, LIMITS } from '../../../plugin-api/core/config.js';
import { causeText } from '../../../plugin-api/core/upstreams.js';
import { FAILED_OUTCOMES, type ListedStream, type StreamOutcome } from '../../../plugin-api/core/usage.js';
import { count, ESTIMATED, money, LocalTime, secondsBetween } from '../numbers-and-times.js';
import { Table } from '../parts/table.js';
import { OWN_REQUESTS_PATH, REFUSED_PATH } from '../paths.js';
import type { RefusedRequest, FoundRequest } from '../requests/refused-requests.js';
import type { KeyClient } from './usage-reader.js';

/** The id of a model, if it is known. */
function ModelName({ id }: { readonly id: string | null }) {
  return id === null ? <span class="none">–</span> : <code>{id}</code>;
}

const OTHER_CREDENTIALS = { session: 'Playground (session)', external: 'Another credential' } as const;

/** The name of a credential without markup, for the legend of a chart. */
export function keyText({ credential, keyId, keyPrefix }: KeyClient, keys: readonly ListedApiKey[] = []): string {
  if (credential !== 'api_key') return OTHER_CREDENTIALS[credential];
  const name = keys.find(({ id }) => id === keyId)?.name;
  return name === undefined ? `${keyPrefix ?? ''}…` : `${name} (${keyPrefix ?? ''}…)`;
}

type KeyNameProps = KeyClient & {
  /** The API keys of the account, including revoked keys. `undefined` when they cannot be read. */
  readonly keys: readonly ListedApiKey[] | undefined;
};

/** Shows the name of the credential that the requests used. */
export function KeyName({ credential, keyId, keyPrefix, keys }: KeyNameProps) {
  if (credential !== 'api_key') return <>{OTHER_CREDENTIALS[credential]}</>;
  const key = keys?.find(({ id }) => id === keyId);
  return (
    <>
      {key === undefined ? null : `${key.name} `}
      <code>{keyPrefix}…</code>
      {key?.revokedAt == null ? null : <small> revoked</small>}
    </>
  );
}

export const OUTCOME_WORDS: Readonly<Record<StreamOutcome, string>> = {
  completed: 'Complete',
  client_gone: 'Stopped',
  upstream_failed: 'Model failed',
  rejected: 'Rejected',
  timed_out: 'Timed out',
  revoked: 'Key revoked',
  drained: 'Shut down',
  failed: 'Failed',
  interrupted: 'Interrupted',
};

/** How a stream ended. An answer that was cut off at the token limit says so. */
export function OutcomeBadge({ stream }: { readonly stream: ListedStream }) {
  const { outcome, finish_reason: reason } = stream;
  if (outcome === 'completed' && reason === 'length') return <span class="badge">Cut off at the token limit</span>;
  const tone = outcome === 'completed' ? 'good' : FAILED_OUTCOMES.includes(outcome) ? 'bad' : '';
  return <span class={`badge ${tone}`}>{OUTCOME_WORDS[outcome]}</span>;
}

const REASON_WORDS: ReadonlyMap<string, string> = new Map([
  ['key_revoked', 'The API key is revoked.'],
  ['key_expired', 'The API key has expired.'],
  ['account_disabled', 'The account is disabled.'],
  ['address_not_allowed', 'The API key may not be used from the address of the caller.'],
  ...wordsOf(LIMITS, 'Limit'),
  ...wordsOf(KEY_LIMITS, 'Limit of the API key'),
]);

/** Why the service refused a request, in words if there are words for it. Otherwise the error code. */
export function RefusalReason({ refused: { reason, errorCode } }: { readonly refused: RefusedRequest }) {
  const words = reason === null ? undefined : REASON_WORDS.get(reason);
  return words === undefined ? <code>{reason ?? errorCode}</code> : <>{words}</>;
}

function wordsOf(limits: Readonly<Record<string, LimitDefinition>>, what: string): [reason: string, words: string][] {
  return Object.values(limits).map(({ member, label }) => [member, `${what}: ${label}`]);
}

export interface RequestTableProps {
  readonly requests: readonly FoundRequest[];
  readonly keys: readonly ListedApiKey[] | undefined;
  /** The path of the page about a request. */
  readonly pathOf: (request: FoundRequest) => string;
  /** Shows the account of a request, in the list of operators. */
  readonly accountOf?: ((accountId: string) => ComponentChildren) | undefined;
  /** What the page shows without requests. */
  readonly empty?: string;
  /** Whether a note of the page explains the signs. By default there is one below the table. */
  readonly hasNote?: boolean;
}

/** The path of the page about a request, for its account. */
export function ownRequestPath(request: FoundRequest): string {
  return request.kind === 'stream'
    ? `${OWN_REQUESTS_PATH}/${encodeURIComponent(request.stream.request_id)}`
    : `${REFUSED_PATH}/${encodeURIComponent(request.refused.id)}`;
}

/** Requests, the latest first. Each leads to its receipt, or to the facts about its refusal. */
export function RequestTable(props: RequestTableProps) {
  const { requests, keys, pathOf, accountOf, empty, hasNote = false } = props;
  const isOfOne = accountOf === undefined;
  const streams = streamsIn(requests);
  const ofStream = (text: (stream: ListedStream) => string) => (request: FoundRequest) =>
    request.kind === 'stream' ? text(request.stream) : '–';
  const figure = (title: string, text: (stream: ListedStream) => string) =>
    ({ title, isNumber: true, cell: ofStream(text) }) as const;
  return (
    <>
      <Table
        caption="Requests, latest first"
        class="requests"
        rows={requests}
        empty={empty}
        columns={[
          {
            title: 'Time',
            cell: (request) => (
              <a href={pathOf(request)}>
                <LocalTime at={startOf(request)} shows="second" />
              </a>
            ),
          },
          // On a phone, these two are what one sees.
          !isOfOne && { title: 'Account', cell: (request) => accountOf(factsOf(request).accountId) },
          { title: 'Status', cell: (request) => <RequestStatus request={request} forOperators={!isOfOne} /> },
          { title: 'Model', cell: (request) => <ModelName id={factsOf(request).model} /> },
          !isOfOne && { title: 'Upstream', cell: ofStream(({ attempts }) => attempts.at(-1)?.upstream ?? '–') },
          { title: 'Key', cell: (request) => <KeyName {...factsOf(request)} keys={keys} /> },
          isOfOne && figure('Input tokens', (stream) => tokens(stream.tokens.input, stream)),
          isOfOne && figure('Output tokens', (stream) => tokens(stream.tokens.output, stream)),
          isOfOne &&
            streams.some(({ cost }) => cost !== null) &&
            figure('Cost', ({ cost, currency }) => (cost === null || currency === null ? '–' : money(cost, currency))),
          figure('First text', ({ started_at: from, first_text_at: to }) => secondsBetween(from, to)),
          figure('Total time', ({ started_at: from, ended_at: to }) => secondsBetween(from, to)),
        ]}
      />
      {isOfOne && !hasNote && streams.some(({ tokens: { source } }) => source === 'estimated') ? (
        <p class="fine">{ESTIMATED} Estimated, because the provider did not report the token counts.</p>
      ) : null}
    </>
  );
}

function streamsIn(requests: readonly FoundRequest[]): readonly ListedStream[] {
  return requests.flatMap((request) => (request.kind === 'stream' ? [request.stream] : []));
}

/** The facts that every request has. */
function factsOf(request: FoundRequest): ListedStream | RefusedRequest {
  return request.kind === 'stream' ? request.stream : request.refused;
}

function startOf(request: FoundRequest): Date {
  return new Date(request.kind === 'stream' ? request.stream.started_at : request.refused.refusedAt);
}

interface RequestStatusProps {
  readonly request: FoundRequest;
  /** Operators see the cause of a failure, and the code of a refusal as the metrics have it. */
  readonly forOperators: boolean;
}

/** How a request ended, and why. */
function RequestStatus({ request, forOperators }: RequestStatusProps) {
  if (request.kind === 'stream') {
    const { stream } = request;
    return (
      <>
        <OutcomeBadge stream={stream} /> {stream.errorCode === null ? null : <code>{stream.errorCode}</code>}{' '}
        {forOperators ? <small>{causeOf(stream)}</small> : null}
      </>
    );
  }
  const { refused } = request;
  return (
    <>
      <span class="badge bad">Refused</span> {refused.status}{' '}
      {forOperators ? <code>{refused.reason ?? refused.errorCode}</code> : <RefusalReason refused={refused} />}
      {refused.similar === 0 ? null : <small> and {count(refused.similar)} more</small>}
    </>
  );
}

/** Why the last failed attempt failed. */
function causeOf({ causes }: ListedStream): string | undefined {
  const cause = causes.findLast((each) => each !== undefined);
  return cause && causeText(cause);
}

/** A count of tokens. `–` if the count is unknown. */
export function tokens(number: number | null, { tokens: { source } }: ListedStream): string {
  if (number === null) return '–';
  return source === 'estimated' ? `${ESTIMATED} ${count(number)}` : count(number);
}

const COLUMNS = [
  'time',
  'request_id',
  'account_id',
  'outcome',
  'status',
  'error_code',
  'reason',
  'cause',
  'upstream',
  'model',
  'key_id',
  'key_prefix',
  'input_tokens',
  'output_tokens',
  'cost',
  'currency',
  'first_text_at',
  'ended_at',
] as const;
type Column = (typeof COLUMNS)[number];
const FOR_OPERATORS: readonly Column[] = ['account_id', 'cause'];

/** The columns of the requests as a file. */
export function requestColumns(reader: 'operator' | 'member'): readonly Column[] {
  return reader === 'operator' ? COLUMNS : COLUMNS.filter((name) => !FOR_OPERATORS.includes(name));
}

type Line = Readonly<Record<Column, string | number | null>>;

const EMPTY = Object.fromEntries(COLUMNS.map((name) => [name, null])) as Line;

/** A request as a line of the file. What is unknown, or does not exist for the request, is empty. */
export function requestLine(request: FoundRequest): Line {
  const { accountId, errorCode, model, keyId, keyPrefix } = factsOf(request);
  const time = startOf(request).toISOString();
  const common = { time, account_id: accountId, error_code: errorCode, model, key_id: keyId, key_prefix: keyPrefix };
  if (request.kind === 'refused') {
    const { requestId, status, reason } = request.refused;
    return { ...EMPTY, ...common, request_id: requestId, outcome: 'refused', status, reason };
  }
  const { stream } = request;
  return {
    ...EMPTY,
    ...common,
    request_id: stream.request_id,
    outcome: stream.outcome,
    cause: causeOf(stream) ?? null,
    upstream: stream.attempts.at(-1)?.upstream ?? null,
    input_tokens: stream.tokens.input,
    output_tokens: stream.tokens.output,
    cost: stream.cost,
    currency: stream.currency,
    first_text_at: stream.first_text_at,
    ended_at: stream.ended_at,
  };
}
