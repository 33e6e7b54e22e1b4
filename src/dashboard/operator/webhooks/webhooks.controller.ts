import { Get, Inject, Param, Post, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { AccountsService } from '../../../accounts/accounts/accounts.service.js';
import type { VerifiedSession } from '../../../accounts/sessions/sessions.service.js';
import { CurrentSession } from '../../../auth/session/request-session.js';
import { ServiceError } from '../../../common/service-error.js';
import { CONFIG, type Config } from '../../../config/config.js';
import { Form } from '../../../http/body/form/form.decorator.js';
import { LimitedByBudget } from '../../../throttling/budgets/limited-by-budget.decorator.js';
import { WebhookDeliveries } from '../../../webhooks/delivery/webhook-deliveries.js';
import { WebhookOutbox } from '../../../webhooks/outbox/webhook-outbox.js';
import { AccountForm } from '../../forms/account-form.decorator.js';
import { PageController } from '../../page-controller.decorator.js';
import { Pages } from '../../pages.js';
import { positionIn } from '../../parts/list-position.js';
import { PAGE_SIZE } from '../../parts/pagination.js';
import type { QueryValues } from '../../parts/query.js';
import { OperatorLog } from '../operator-log.js';
import { OperatorOnly } from '../operator-only.decorator.js';
import { WEBHOOKS_PATH } from './webhooks-path.js';
import { WebhooksView } from './webhooks-view.js';

/** The page of operators with the deliveries of webhooks. */
@PageController(WEBHOOKS_PATH.slice(1))
@LimitedByBudget('pages')
@OperatorOnly()
export class WebhooksController {
  constructor(
    private readonly pages: Pages,
    private readonly deliveries: WebhookDeliveries,
    private readonly outbox: WebhookOutbox,
    private readonly accounts: AccountsService,
    private readonly log: OperatorLog,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  @Get()
  async list(
    @Query() values: QueryValues,
    @CurrentSession() { account: operator }: VerifiedSession,
    @Res() response: Response,
  ): Promise<void> {
    const before = positionIn(values);
    const found = await this.deliveries.list(before, PAGE_SIZE);
    const emails = await this.accounts.emailsOf([...new Set(found.rows.map(({ account_id: id }) => id))]);
    const content = WebhooksView({
      ...{ operatorId: operator.id, found, emails, isFirstPage: before === undefined },
      webhooks: [...this.config.webhooks.keys()],
      done: values['done'] === 'sent' ? 'The event will be sent again.' : undefined,
    });
    this.pages.send(response, { title: 'Webhooks', section: 'status', width: 'wide', content });
  }

  @Post(':id/send')
  @Form()
  async send(
    @Param('id') id: string,
    @AccountForm() _form: unknown,
    @CurrentSession() { account: operator }: VerifiedSession,
    @Res() response: Response,
  ): Promise<void> {
    if (!(await this.deliveries.sendAgain(id))) throw new ServiceError('not_found', 'This event does not exist.');
    this.log.write('A webhook event is sent again', { operatorId: operator.id, deliveryId: id });
    this.outbox.notify();
    this.pages.leadTo(response, `${WEBHOOKS_PATH}?done=sent`);
  }
}
