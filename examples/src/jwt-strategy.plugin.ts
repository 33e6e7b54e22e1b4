import { Inject, Injectable } from '@nestjs/common';
import {
  AccountsService,
  ChatPlugin,
  CLOCK,
  isText,
  parseJsonObject,
  PLUGIN_CONFIG,
  ServiceError,
  type Clock,
  type JsonObject,
  type Principal,
  type SecurityScheme,
} from 'chat-streaming-service';
import type { Request } from 'express';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { Strategy } from 'passport';
import { z } from 'zod';

const Config = z.strictObject({
  /** The secret that the issuer of the tokens shares with the service. */
  secret: z.string().min(16),
});

/** Accepts `Authorization: Bearer <JWT>` with HS256 and the claims `email` and `exp`. The token's streams end when it expires. */
@Injectable()
export class JwtStrategy extends Strategy {
  static readonly strategyName = 'jwt';
  static readonly hint = 'Or send a token of the company as "Authorization: Bearer <JWT>".';
  static readonly securityScheme: SecurityScheme = { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' };

  constructor(
    @Inject(PLUGIN_CONFIG) private readonly config: z.infer<typeof Config>,
    private readonly accounts: AccountsService,
    @Inject(CLOCK) private readonly now: Clock,
  ) {
    super();
  }

  override authenticate({ headers }: Request): void {
    const [, token] = /^Bearer ([\w-]+\.[\w-]+\.[\w-]+)$/i.exec(headers.authorization ?? '') ?? [];
    if (token === undefined) this.fail();
    else
      this.principalOf(token).then(
        (principal) => this.success(principal),
        (error: unknown) => this.error(error),
      );
  }

  private async principalOf(token: string): Promise<Principal> {
    const { email, exp } = this.claimsOf(token);
    if (!isText(email) || typeof exp !== 'number') throw refused('The token needs the claims "email" and "exp".');
    const expiresAt = new Date(exp * 1_000);
    if (expiresAt.getTime() <= this.now()) throw refused('The token has expired.');
    const account = await this.accounts.findByEmail(email);
    if (account === undefined || account.disabledAt !== null) throw refused('The token is for no active account.');
    const credential = { kind: 'external', id: `jwt:${email}`, expiresAt } as const;
    return { accountId: account.id, tier: this.accounts.tierOf(account), credential };
  }

  private claimsOf(token: string): JsonObject {
    const [header = '', payload = '', signature = ''] = token.split('.');
    const expected = createHmac('sha256', this.config.secret).update(`${header}.${payload}`).digest();
    const given = Buffer.from(signature, 'base64url');
    const isSigned = given.length === expected.length && timingSafeEqual(given, expected);
    if (!isSigned || decoded(header)?.alg !== 'HS256') throw refused('The signature of the token is invalid.');
    return decoded(payload) ?? {};
  }
}

function decoded(part: string): JsonObject | undefined {
  return parseJsonObject(Buffer.from(part, 'base64url').toString());
}

function refused(message: string): ServiceError {
  return new ServiceError('unauthenticated', message);
}

@ChatPlugin({ name: 'jwt', compatibility: '^1', config: Config, strategies: [JwtStrategy] })
export class JwtPlugin {}
