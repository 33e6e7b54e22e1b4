import { stream, type ReceivedStream, type StreamOptions } from './sse-client.js';
import { PASSWORD } from './usual-password.js';

export const COOKIE_NAME = '__Host-session';
export const EMAIL = 'ada@example.com';

export type Fields = Readonly<Record<string, string>>;
type Headers = Readonly<Record<string, string>>;

/** A client that handles sessions like a browser: it keeps the session cookie, and sends the origin of its forms. */
export class WebClient {
  /** The value of the header `Cookie`. */
  cookie: string | undefined;
  /** The account of the forms. `undefined`: a page says it. */
  accountId: string | undefined;

  constructor(
    private readonly origin: string,
    /** The headers of every request. */
    private readonly headers: Headers = {},
  ) {}

  get token(): string | undefined {
    return this.cookie?.slice(COOKIE_NAME.length + 1);
  }

  /** @param headers additional headers. They replace default headers of the same name. */
  async post(path: string, fields: Fields = {}, headers: Headers = {}): Promise<ReceivedStream> {
    const form = { origin: this.origin, 'content-type': 'application/x-www-form-urlencoded', ...headers };
    return this.send({ path, method: 'POST', body: new URLSearchParams(fields).toString(), headers: form });
  }

  /** Sends a form of a page, which names the account that was signed in when the page was made. */
  async postForm(path: string, fields: Fields = {}): Promise<ReceivedStream> {
    this.accountId ??= /name="account_id" value="([^"]*)"/.exec(
      await (await this.get('/settings/account')).body(),
    )?.[1];
    return this.post(path, { ...(this.accountId !== undefined && { account_id: this.accountId }), ...fields });
  }

  async get(path: string, headers: Headers = {}): Promise<ReceivedStream> {
    return this.send({ path, method: 'GET', headers });
  }

  async signUp(email = EMAIL, password = PASSWORD): Promise<ReceivedStream> {
    return this.post('/sign-up', { email, password });
  }

  async signIn(email = EMAIL, password = PASSWORD): Promise<ReceivedStream> {
    return this.post('/sign-in', { email, password });
  }

  /** The email of the account that is signed in, according to the service. `null` without a session. */
  async email(): Promise<string | null> {
    return (JSON.parse(await (await this.get('/me')).body()) as { email: string | null }).email;
  }

  /** The headers of a request that a script on a page sends. */
  get asScript(): Headers {
    return { ...this.headers, ...(this.cookie !== undefined && { cookie: this.cookie }), origin: this.origin };
  }

  private async send({ headers = {}, ...options }: StreamOptions): Promise<ReceivedStream> {
    const cookie = this.cookie === undefined ? {} : { cookie: this.cookie };
    const answer = await stream(this.origin, { ...options, headers: { ...this.headers, ...cookie, ...headers } });
    for (const set of answer.headers['set-cookie'] ?? []) this.keep(set);
    return answer;
  }

  private keep(set: string): void {
    const pair = set.split(';', 1)[0] ?? '';
    this.cookie = pair.endsWith('=') ? undefined : pair;
  }
}
