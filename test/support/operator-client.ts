import type { INestApplicationContext } from '@nestjs/common';
import type { OperatorScope } from '../../src/accounts/operator-keys/operator-key-verifier.js';
import { OperatorKeys } from '../../src/accounts/operator-keys/operator-keys.service.js';

export interface OperatorAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed body. `undefined`: the response has no body. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** A program that uses the API for operators. */
export class OperatorClient {
  constructor(
    private readonly origin: string,
    readonly key: string,
    readonly id = '',
  ) {}

  static async of(app: INestApplicationContext, origin: string, scope: OperatorScope): Promise<OperatorClient> {
    const { id, key } = await app.get(OperatorKeys, { strict: false }).create({ name: `tests, ${scope}`, scope });
    return new OperatorClient(origin, key, id);
  }

  get(path: string): Promise<OperatorAnswer> {
    return this.send('GET', path);
  }

  /** @param body a value to send as JSON. A text is sent as it is. */
  async send(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<OperatorAnswer> {
    const response = await fetch(`${this.origin}/api/v1/admin/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: (text === '' ? undefined : JSON.parse(text)) as OperatorAnswer['body'],
    };
  }

  /** Returns the entries of all pages of a list. */
  async all(path: string, limit = 200): Promise<Readonly<Record<string, unknown>>[]> {
    const found: Readonly<Record<string, unknown>>[] = [];
    let cursor: unknown;
    do {
      const query = `limit=${limit}${typeof cursor === 'string' ? `&cursor=${cursor}` : ''}`;
      const { status, body } = await this.get(`${path}${path.includes('?') ? '&' : '?'}${query}`);
      if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
      found.push(...(body['data'] as typeof found));
      cursor = body['next_cursor'];
    } while (cursor !== null);
    return found;
  }
}
