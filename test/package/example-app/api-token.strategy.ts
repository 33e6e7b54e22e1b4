import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { AccountsService, type Principal } from 'chat-streaming-service';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { HeaderTokenStrategy } from './header-token.strategy.js';

/** Lets in whom the company's gateway has signed: `X-Api-Token: <email>:<HMAC of it, in hexadecimal>`. */
@Injectable()
export class ApiTokenStrategy extends PassportStrategy(HeaderTokenStrategy, 'x-api-token') {
  static readonly strategyName = 'x-api-token';

  private readonly secret = process.env['GATEWAY_SECRET'];

  constructor(private readonly accounts: AccountsService) {
    super();
  }

  async validate(token: string): Promise<Principal | false> {
    const [email = '', signature = ''] = token.split(':');
    if (this.secret === undefined || !isSignature(signature, email, this.secret)) return false;
    const account = await this.accounts.findByEmail(email);
    if (account === undefined) return false;
    return {
      accountId: account.id,
      tier: this.accounts.tierOf(account),
      credential: { kind: 'external', id: `gateway:${email}` },
    };
  }
}

function isSignature(signature: string, email: string, secret: string): boolean {
  const expected = createHmac('sha256', secret).update(email).digest();
  const given = Buffer.from(signature, 'hex');
  return given.length === expected.length && timingSafeEqual(given, expected);
}
