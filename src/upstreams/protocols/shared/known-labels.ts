/**
 * The labels that providers use to classify failures: `type`, `code` and `status` of their error objects. An unknown label
 * can contain anything, even a piece of the prompt, so logs never contain unknown labels.
 */
const OPENAI = [
  ...['invalid_request_error', 'authentication_error', 'permission_error', 'not_found_error', 'rate_limit_error'],
  ...['server_error', 'api_error', 'insufficient_quota', 'tokens', 'requests', 'service_unavailable_error'],
  ...['invalid_api_key', 'invalid_organization', 'mismatched_organization', 'account_deactivated', 'token_expired'],
  ...['billing_not_active', 'billing_hard_limit_reached', 'access_terminated', 'quota_exceeded', 'rate_limit_exceeded'],
  ...['model_not_found', 'model_error', 'context_length_exceeded', 'string_above_max_length', 'invalid_prompt'],
  ...['content_policy_violation', 'content_filter', 'policy_violation', 'server_is_overloaded', 'server_overloaded'],
  ...['slow_down', 'unsupported_parameter', 'unsupported_value', 'unsupported_model', 'unknown_parameter'],
  ...['missing_required_parameter', 'invalid_type', 'invalid_value', 'integer_above_max_value', 'RateLimitError'],
  ...['integer_below_min_value', 'decimal_above_max_value', 'decimal_below_min_value', 'array_above_max_length'],
  ...['array_below_min_length', 'empty_array', 'unsupported_country_region_territory', 'timeout', 'error'],
];
const ANTHROPIC = ['overloaded_error', 'billing_error', 'timeout_error', 'request_too_large', 'overloaded'];
/** The status codes of gRPC. */
const GEMINI = [
  ...['CANCELLED', 'UNKNOWN', 'INVALID_ARGUMENT', 'DEADLINE_EXCEEDED', 'NOT_FOUND', 'ALREADY_EXISTS', 'ABORTED'],
  ...['PERMISSION_DENIED', 'RESOURCE_EXHAUSTED', 'FAILED_PRECONDITION', 'OUT_OF_RANGE', 'UNIMPLEMENTED', 'INTERNAL'],
  ...['UNAVAILABLE', 'DATA_LOSS', 'UNAUTHENTICATED'],
];
/** The numbers are error codes, written as texts. */
const MISTRAL = [
  ...['rate_limited', 'service_tier_capacity_exceeded', 'invalid_model', 'invalid_request_message_order'],
  ...['invalid_request_prompt', 'internal_server_error', 'unauthorized', '1300', '1500', '3230', '3505'],
];
const GROQ = [
  ...['over_capacity', 'capacity_exceeded', 'model_decommissioned', 'model_not_active', 'model_terms_required'],
  ...['organization_restricted', 'blocked_api_access', 'json_validate_failed', 'tool_use_failed'],
];
const XAI = [
  ...[
    'Client specified an invalid argument',
    'Some resource has been exhausted',
    'Some requested entity was not found',
  ],
  ...[
    'The service is currently unavailable',
    'Internal error',
    'The system is not in a state required for the request',
  ],
];
const DEEPSEEK = ['unknown_error', 'insufficient_balance', 'insufficient_system_resource'];
const OPENROUTER = [
  ...['max_tokens_exceeded', 'token_limit_exceeded', 'string_too_long', 'authentication', 'payment_required'],
  ...['provider_overloaded', 'provider_unavailable', 'invalid_request', 'precondition_failed', 'payload_too_large'],
  ...['unprocessable', 'refusal', 'invalid_image', 'image_too_large', 'image_too_small', 'unsupported_image_format'],
  ...['image_not_found', 'image_download_failed', 'server', 'unmapped'],
];
const VLLM = [
  ...['BadRequestError', 'NotFoundError', 'InternalServerError', 'NotImplementedError', 'AuthenticationError'],
  ...['UnprocessableEntityError', 'ServiceUnavailableError', 'GenerationError', 'Bad Request', 'Not Found'],
  ...['Internal Server Error', 'Service Unavailable', 'Too Many Requests', 'Unauthorized', 'Gateway Timeout'],
];
const LLAMA_CPP = ['unavailable_error', 'not_supported_error', 'exceed_context_size_error'];
const AZURE = [
  ...['BadRequest', 'Forbidden', 'AccessDenied', 'PermissionDenied', 'InvalidAuthenticationToken', 'NotFound'],
  ...['DeploymentNotFound', 'DeploymentNotReady', 'ModelNotFound', 'ResourceNotFound', 'OperationNotSupported'],
  ...['InvalidApiVersionParameter', 'InternalServerError', 'ServiceUnavailable', 'TooManyRequests', 'RateLimitReached'],
  ...['RateLimitExceeded', 'NoCapacity', 'QuotaExceeded', 'ResponsibleAIPolicyViolation', 'contentFilter', 'Timeout'],
];

/** The labels by their lower case, because providers differ in the case. Ollama and others use the labels of OpenAI. */
const KNOWN: ReadonlyMap<string, string> = new Map(
  [OPENAI, ANTHROPIC, GEMINI, MISTRAL, GROQ, XAI, DEEPSEEK, OPENROUTER, VLLM, LLAMA_CPP, AZURE]
    .flat()
    .map((label) => [label.toLowerCase(), label]),
);

/** Replaces an unknown label. */
const OTHER = 'other';
/** The maximum length of a label, in UTF-16 units. All known labels are shorter. */
const MAX_LABEL_LENGTH = 64;
const LOWEST_STATUS = 100;
const HIGHEST_STATUS = 599;

/** Returns the label for a log line: a known label, an HTTP status, or `other`. */
export function knownLabel(label: string | number): string {
  if (typeof label === 'string' && label.length > MAX_LABEL_LENGTH) return OTHER;
  const status = Number(label);
  if (Number.isInteger(status) && status >= LOWEST_STATUS && status <= HIGHEST_STATUS) return String(status);
  return KNOWN.get(String(label).toLowerCase()) ?? OTHER;
}
