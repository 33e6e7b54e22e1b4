import { Get, Inject, Req, Res } from '@nestjs/common';
import {
  AccountsService,
  ChatPlugin,
  isFromTrustedProxy,
  PageController,
  Pages,
  PLUGIN_CONFIG,
  Public,
  ServiceError,
  SessionStart,
} from 'chat-streaming-service';
import type { Request, Response } from 'express';
import { randomBytes } from 'node:crypto';
import { z } from 'zod';

const PATH = '/sign-in/proxy';

const Config = z.strictObject({
  /** The header in which the proxy writes the address of the person that it has recognized, in lower case. */
  header: z.string().toLowerCase().default('x-forwarded-email'),
});

/**
 * Another way to sign in: a proxy of the company recognizes people, and names them in a header. Who comes for the first time gets an
 * account. The proxy must remove the header from all other requests.
 */
@PageController(PATH)
@Public()
export class ProxySignIn {
  constructor(
    @Inject(PLUGIN_CONFIG) private readonly config: z.infer<typeof Config>,
    private readonly accounts: AccountsService,
    private readonly sessions: SessionStart,
    private readonly pages: Pages,
  ) {}

  @Get()
  async signIn(@Req() request: Request, @Res() response: Response): Promise<void> {
    const email = request.headers[this.config.header];
    if (typeof email !== 'string' || !isFromTrustedProxy(request)) {
      throw new ServiceError('unauthenticated', 'The proxy names no person.');
    }
    const known = await this.accounts.findByEmail(email);
    const password = randomBytes(32).toString('base64url');
    await this.sessions.signIn(known ?? (await this.accounts.create({ email, password })), response);
    this.pages.redirect(response, '/');
  }
}

@ChatPlugin({
  name: 'proxy-sign-in',
  compatibility: '^1',
  config: Config,
  controllers: [ProxySignIn],
  navigation: [{ label: 'Continue with the company account', path: PATH, audience: 'visitors' }],
})
export class ProxySignInPlugin {}
