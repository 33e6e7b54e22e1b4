import { Body, Controller, Get, Inject, Ip, Module, Patch, Post, Put, Delete, Res } from '@nestjs/common';
import type { Response } from 'express';
import type { VerifiedSession } from '../../src/accounts/sessions/sessions.service.js';
import { CurrentPrincipal, type Principal } from '../../src/auth/principal/principal.js';
import { CurrentSession } from '../../src/auth/session/request-session.js';
import { SessionCookie } from '../../src/auth/session/session-cookie.js';
import { SessionOnly } from '../../src/auth/session/session.guard.js';
import { PasswordChange, type Passwords } from '../../src/auth/sign-in/password-change.js';
import { Form } from '../../src/platform/http/body/body-class.decorator.js';
import { OutsideApi } from '../../src/platform/http/surface/surface.decorator.js';
import { Public } from '../../src/platform/http/routing/route-decorators.js';

/** Routes outside the API that show tests the session of a request. */
@OutsideApi()
class SessionRoutes {
  constructor(
    @Inject(PasswordChange) private readonly passwords: PasswordChange,
    @Inject(SessionCookie) private readonly cookie: SessionCookie,
  ) {}

  @Get('me')
  @Public()
  me(@CurrentSession() session: VerifiedSession | undefined) {
    return { email: session?.account.email ?? null, tier: session?.account.tier.name ?? null };
  }

  @Post('password')
  @SessionOnly()
  @Form()
  async password(
    @Body() passwords: Passwords,
    @CurrentSession() session: VerifiedSession,
    @Ip() address: string,
    @Res() response: Response,
  ) {
    const { token, expiresAt } = await this.passwords.change(session, passwords, address);
    this.cookie.set(response, token, expiresAt);
    response.redirect(303, '/me');
  }

  @Post('echo')
  @Public()
  @Form()
  echo(@Body() body: object) {
    return body;
  }

  @Get('private')
  @SessionOnly()
  private(@CurrentPrincipal() { accountId, credential }: Principal) {
    return { accountId, kind: credential.kind };
  }
}

/** A controller with the same name as the page `/me`, but under the prefix of the API. */
@Controller('me')
class MeController {
  @Get()
  show(@CurrentPrincipal() { credential }: Principal) {
    return { kind: credential.kind };
  }

  @Post()
  post(@CurrentPrincipal() { credential }: Principal) {
    return { kind: credential.kind };
  }

  @Put()
  put(@CurrentPrincipal() { credential }: Principal) {
    return { kind: credential.kind };
  }

  @Patch()
  patch(@CurrentPrincipal() { credential }: Principal) {
    return { kind: credential.kind };
  }

  @Delete()
  delete(@CurrentPrincipal() { credential }: Principal) {
    return { kind: credential.kind };
  }
}

@Module({ controllers: [SessionRoutes, MeController] })
export class SignInPagesModule {}
