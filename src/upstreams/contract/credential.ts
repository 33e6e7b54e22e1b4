import type { UpstreamConfig } from '../../platform/config/config.js';
import type { CallContext, ResponseHeaders, UpstreamRequest } from './protocol.js';
import type { OptionsSchema } from './options-schema.js';

/**
 * What authorizes the requests to an upstream for some time, such as a token or a signing key.
 *
 * @since 1.0
 */
export interface Credential {
  /** When the credential expires, in milliseconds since 1970. `undefined`: never. */
  readonly expiresAt?: number | undefined;
  /** Returns the headers that authorize this request. They replace headers of the protocol. Nothing else of the request changes. */
  authorize(request: UpstreamRequest): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
  /** Whether the provider refuses the credential itself, so that a new one may help. By default with the status 401. */
  isRefused?(status: number, headers: ResponseHeaders): boolean;
}

/**
 * What a source of credentials may use. Both end when the time for the credential is over.
 *
 * @since 1.0
 */
export interface CredentialContext {
  readonly signal: AbortSignal;
  /** Sends a request over the connections of the service, with the connect timeout of the upstream. */
  readonly fetch: CallContext['fetch'];
}

/**
 * Obtains the credentials of upstreams whose `credentials` in CONFIG_FILE have this kind. Name the class in `credentials` of a plugin.
 * The service keeps each credential until shortly before it expires, and asks for one at a time, however many requests wait.
 *
 * @typeParam Options the members of `credentials` except `kind`, as the schema returns them.
 * @since 1.0
 */
export interface CredentialSource<Options = unknown> {
  /** The value of `credentials.kind` of an upstream in CONFIG_FILE. */
  readonly kind: string;
  /** Checks the members of `credentials` at start-up. By default, there are none. */
  readonly options?: OptionsSchema<Options>;
  /** The packages that the source loads when it is used. A missing package is a problem of the configuration. */
  readonly packages?: readonly string[];
  /**
   * Obtains a new credential. It must not return one that it has returned before, unless that one is still new.
   *
   * @throws any error. Its message is not logged, because it can contain a secret: use {@link credentialsUnavailable} for a reason.
   */
  obtain(options: Options, upstream: UpstreamConfig, context: CredentialContext): Promise<Credential>;
}
