import { Get, Inject, Param } from '@nestjs/common';
import { AccountsService } from '../../accounts/accounts/accounts.service.js';
import { ServiceError } from '../../common/service-error.js';
import { CONFIG, type Config } from '../../config/config.js';
import { LimitedByBudget } from '../../throttling/budgets/limited-by-budget.decorator.js';
import { WebhookDeliveries, type ListedDelivery } from '../../webhooks/delivery/webhook-deliveries.js';
import { NO_ACCOUNT } from '../../webhooks/outbox/webhook-event.js';
import { WebhookOutbox } from '../../webhooks/outbox/webhook-outbox.js';
import { PostForm } from '../forms/post-form.decorator.js';
import { Moment } from '../format/times.js';
import { PageController } from '../page-controller.decorator.js';
import { Pages } from '../pages.js';
import { Notice } from '../parts/blocks.js';
import { OlderLinks, PAGE_SIZE, positionIn } from '../parts/lists.js';
import { Table } from '../parts/table.js';
import { WEBHOOKS_PATH } from '../paths.js';
import { CurrentVisit, type Visit } from '../visit.decorator.js';
import { AccountName } from './account-name.js';
import { OperatorLog } from './operator-log.js';
import { OperatorOnly } from './operator-only.decorator.js';

/** The page of operators with the events that the service has sent to webhooks, or will send. */
@PageController(WEBHOOKS_PATH)
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
  async list(@CurrentVisit() { accountId: operatorId, query, response }: Visit): Promise<void> {
    const before = positionIn(query);
    const { rows, next } = await this.deliveries.list(before, PAGE_SIZE);
    const emails = await this.accounts.emailsOf([...new Set(rows.map(({ account_id: id }) => id))]);
    const webhooks = [...this.config.webhooks.keys()];
    const sendPath = (id: string) => `${WEBHOOKS_PATH}/${id}/send`;
    const content = (
      <>
        <h1>Webhooks</h1>
        <Notice tone="good">{query['done'] === 'sent' ? 'The event will be sent again.' : undefined}</Notice>
        <p>
          {webhooks.length === 0
            ? 'The configuration has no webhooks.'
            : `The configuration has these webhooks: ${webhooks.join(', ')}.`}
        </p>
        <Table
          caption="Events, latest first"
          isCards
          rows={rows}
          empty="There are no events yet."
          columns={[
            { title: 'Event', cell: ({ type }) => <code>{type}</code> },
            { title: 'Time (UTC)', cell: ({ created_at: at }) => <Moment at={new Date(at)} withSeconds /> },
            {
              title: 'Account',
              cell: ({ account_id: id }) =>
                id === NO_ACCOUNT ? 'operator key' : <AccountName id={id} emails={emails} />,
            },
            { title: 'Webhook', cell: ({ webhook }) => webhook },
            { title: 'State', cell: stateOf },
            { title: 'Attempts', isNumber: true, cell: ({ attempts }) => attempts },
            { title: 'Last error', cell: ({ last_error: error }) => error ?? <span class="none">–</span> },
          ]}
          actions={{
            headId: ({ id }) => `delivery-${id}`,
            of: ({ id, webhook }) =>
              webhooks.includes(webhook) ? [{ label: 'Send again', path: sendPath(id), accountId: operatorId }] : [],
          }}
        />
        <OlderLinks path={WEBHOOKS_PATH} before={before} next={next} />
        <p class="fine">Latest first. Times are in UTC. Events are kept for 40 days.</p>
      </>
    );
    this.pages.send(response, { title: 'Webhooks', section: 'status', width: 'wide', content });
  }

  @PostForm(':id/send')
  async send(@Param('id') id: string, @CurrentVisit() { accountId: operatorId, response }: Visit): Promise<void> {
    if (!(await this.deliveries.sendAgain(id))) throw new ServiceError('not_found', 'This event does not exist.');
    this.log.write('A webhook event is sent again', { operatorId, deliveryId: id });
    this.outbox.notify();
    this.pages.leadTo(response, `${WEBHOOKS_PATH}?done=sent`);
  }
}

function stateOf({ delivered_at: deliveredAt, next_attempt_at: nextAt, attempts }: ListedDelivery) {
  if (nextAt === null) {
    return deliveredAt === null ? <span class="badge bad">Given up</span> : <span class="badge good">Delivered</span>;
  }
  return (
    <>
      <span class="badge">{attempts === 0 ? 'Waiting' : 'Retrying'}</span>
      <span class="fine since">
        <Moment at={new Date(nextAt)} withSeconds />
      </span>
    </>
  );
}
