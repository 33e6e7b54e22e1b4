import { Inject, Injectable, Logger } from '@nestjs/common';
import { AuditLog } from '../../../plugin-api/core/accounts.js';
import { type Clock, CLOCK } from '../../../plugin-api/core/common.js';
import type { PageRequest } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { shownOncePage, type ShownOnceProps } from '../parts/action-pages.js';

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
