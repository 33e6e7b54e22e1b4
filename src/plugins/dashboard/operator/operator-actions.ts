import {
  applyDecorators,
  Injectable,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
  Inject,
  Logger,
} from '@nestjs/common';
import type { Request } from 'express';
import { AccountRoles, AuditLog } from '../../../plugin-api/core/accounts.js';
import { sessionOf, unauthenticated } from '../../../plugin-api/core/auth.js';
import { ServiceError, type Clock, CLOCK } from '../../../plugin-api/core/common.js';
import { Public } from '../../../plugin-api/core/http.js';
import type { PageRequest } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { shownOncePage, type ShownOnceProps } from '../parts/action-pages.js';

/** The methods that change nothing. */
const SAFE_METHODS = new Set(['GET', 'HEAD']);

/**
 * Accepts only sessions of operators. A browser without a session gets the page to sign in, because a session can have expired. For
 * everyone else, the page does not exist. Before a change, the guard asks the database,
 * because a remembered session can be half a second old, and because other guards have waited for the body of the form.
 */
@Injectable()
class OperatorGuard implements CanActivate {
  constructor(private readonly roles: AccountRoles) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const session = sessionOf(request);
    if (session?.account.role === 'operator') {
      if (SAFE_METHODS.has(request.method) || (await this.roles.isOperator(session.sessionId))) return true;
    }
    const isSignedOut = session === undefined && request.headers.authorization === undefined;
    if (isSignedOut) throw unauthenticated('Sign in as an operator.');
    throw new ServiceError('not_found', 'This path does not exist.');
  }
}

/**
 * Opens a route, or all routes of a controller, to sessions of operators only. Visitors are asked to sign in, and all others get 404. API keys are not accepted,
 * also not the keys of operators.
 *
 * @since 1.0
 */
export const OperatorOnly = (): MethodDecorator & ClassDecorator => applyDecorators(Public(), UseGuards(OperatorGuard));

/** What an action is about. Of accounts ids only, because addresses must not be in the log. */
interface Subject {
  readonly accountId?: string;
  readonly invitationId?: string;
  readonly keyId?: string;
  readonly operatorKeyId?: string;
  readonly deliveryId?: string;
  readonly webhook?: string;
  readonly tier?: string;
  readonly role?: string;
  readonly upstream?: string;
  readonly model?: string | undefined;
}

interface NewSecret extends ShownOnceProps {
  /** The message in the log. */
  readonly msg: string;
  readonly subject: Subject;
}

/** Writes every action of an operator to the log, and answers the form of the action. */
@Injectable()
export class OperatorActions {
  private readonly logger = new Logger('Operator');

  constructor(
    private readonly pages: Pages,
    private readonly audit: AuditLog,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /** Logs a change, and redirects to the page that reports it. */
  done({ accountId: operatorId, response }: PageRequest, msg: string, subject: Subject, next: string): void {
    this.logger.log({ msg, operatorId, ...subject });
    this.pages.redirect(response, next);
  }

  /** Logs a creation, and sends the page that shows the new secret. No later request can read the secret again. */
  showOnce({ accountId: operatorId, response }: PageRequest, { msg, subject, ...secret }: NewSecret): void {
    this.logger.log({ msg, operatorId, ...subject });
    this.pages.send(response, shownOncePage(secret), 201);
  }

  /**
   * Writes an action that changes no row of the database to the audit log and to the log. Call this before the action.
   *
   * @param action such as `route.probed`.
   * @param target such as `webhook:<name>`.
   */
  async record(
    { accountId: operatorId, author }: PageRequest,
    [action, target]: readonly [action: string, target: string],
    msg: string,
    subject: Subject,
  ): Promise<void> {
    await this.audit.append(author, action, target, new Date(this.now()));
    this.logger.log({ msg, operatorId, ...subject });
  }
}
