import { Global, Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { BodyClients } from '../platform/http/body/bodies-in-flight.js';
import { REDIS, type RedisConnection } from '../platform/redis/redis-connection.js';
import { RedisModule } from '../platform/redis/redis.module.js';
import { AttemptCounters, KeyCreationLimit } from './attempts/attempt-counters.js';
import { InProcessAttemptCounters } from './attempts/in-process-attempt-counters.js';
import { RedisAttemptCounters } from './attempts/redis-attempt-counters.js';
import { LeakedKeysController, LeakReportLimit } from './leaked-keys/leaked-keys.controller.js';
import { OperatorAccess } from './operators/operator-access.js';
import { RequestBodyClients } from './session/request-body-clients.js';
import { SameOriginGuard } from './same-origin/same-origin.guard.js';
import { SessionCookie, SessionStart } from './session/session-cookie.js';
import { SessionMiddleware } from './session/session.middleware.js';
import { LinkSignIn } from './sign-in/link-sign-in.js';
import { PasswordChange } from './sign-in/password-change.js';
import { SignIn } from './sign-in/sign-in.js';
import { SignInLimits } from './sign-in/sign-in-limits.js';
import { STRATEGIES } from './strategies/all-strategies.js';
import { AuthenticationGuard } from './strategies/authentication.guard.js';

const services = [
  AuthenticationGuard,
  SameOriginGuard,
  SessionMiddleware,
  SessionCookie,
  SessionStart,
  SignIn,
  SignInLimits,
  PasswordChange,
  LinkSignIn,
  KeyCreationLimit,
];

/** Authenticates requests and signs users in. */
@Global()
@Module({
  imports: [AccountsModule, RedisModule],
  controllers: [LeakedKeysController],
  providers: [
    ...STRATEGIES,
    {
      provide: AttemptCounters,
      inject: [REDIS],
      useFactory: (redis: RedisConnection | undefined) =>
        redis === undefined ? new InProcessAttemptCounters() : new RedisAttemptCounters(redis),
    },
    { provide: BodyClients, useClass: RequestBodyClients },
    OperatorAccess,
    LeakReportLimit,
    ...services,
  ],
  exports: [...services, BodyClients],
})
export class AuthModule {}
