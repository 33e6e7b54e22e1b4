import { Get, Inject, Optional, Param } from '@nestjs/common';
import { AccountsService } from '../../../plugin-api/core/accounts.js';
import { ServiceError } from '../../../plugin-api/core/common.js';
import { type Config, CONFIG, WEBHOOK_EVENTS } from '../../../plugin-api/core/config.js';
import { RateLimited } from '../../../plugin-api/core/throttling.js';
import { WebhookLog, type ListedDelivery } from '../../../plugin-api/webhook-log.js';
import { NO_ACCOUNT } from '../../../plugin-api/core/outbox.js';
import { CurrentPageRequest, PageController, PostForm, type PageRequest } from '../page-controller.decorator.js';
import { LocalTime, seconds } from '../numbers-and-times.js';
import { Pages } from '../pages.js';
import { Outcome, resultPage } from '../parts/action-pages.js';
import { Notice } from '../parts/blocks.js';
import { OlderLinks, PAGE_SIZE, positionIn } from '../parts/lists.js';
import { pathWith, textIn, WEBHOOKS_PATH } from '../paths.js';
import { Table } from '../parts/table.js';
import { AccountName } from './account-list.js';
import { OperatorActions, OperatorOnly } from './operator-actions.js';
import { PartOf } from '../../../plugin-api/core/http.js';

const MAX_NAME_LENGTH = 255;

/** The page of operators with the events that the service has sent to webhooks, or will send. */
@PartOf('webhooks')
@PageController(WEBHOOKS_PATH)
@RateLimited('pages')
@OperatorOnly()
export class WebhooksController {
  constructor(
    private readonly pages: Pages,
    private readonly accounts: AccountsService,
    private readonly actions: OperatorActions,
    // There with the plugin. Without it, this controller is not in use.
    @Optional() private readonly webhooks: WebhookLog,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  @Get()
  async list(@CurrentPageRequest() { accountId: operatorId, query, response }: PageRequest): Promise<void> {
    const before = positionIn(query);
    const { rows, next } = await this.webhooks.list(before, PAGE_SIZE);
    const emails = await this.accounts.emailsOf([...new Set(rows.map(({ account_id: id }) => id))]);
    const sendPath = (id: string) => `${WEBHOOKS_PATH}/${id}/send`;
    const content = (
      <>
        <h1>Webhooks</h1>
        <Notice tone="good">{query['done'] === 'sent' && 'The event will be sent again.'}</Notice>
        <Table
          caption="Webhooks of the configuration"
          isCards
          rows={[...this.config.webhooks.values()]}
          empty="The configuration has no webhooks."
          columns={[
            { title: 'Webhook', cell: ({ name }) => name },
            { title: 'Host', cell: ({ url }) => url.host },
            {
              title: 'Events',
              cell: ({ events }) => (events.length === WEBHOOK_EVENTS.length ? 'all' : events.join(', ')),
            },
          ]}
          actions={{
            headId: ({ name }) => `webhook-${name}`,
            of: ({ name }) => [{ label: 'Send test', path: testPath(name), accountId: operatorId }],
          }}
        />
        <h2>Events</h2>
        <Table
          caption="Events, latest first"
          isCards
          rows={rows}
          empty="There are no events yet."
          columns={[
            { title: 'Event', cell: ({ type }) => <code>{type}</code> },
            { title: 'Time', cell: ({ created_at: at }) => <LocalTime at={new Date(at)} shows="second" /> },
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
              this.config.webhooks.has(webhook)
                ? [{ label: 'Send again', path: sendPath(id), accountId: operatorId }]
                : [],
          }}
        />
        <OlderLinks path={WEBHOOKS_PATH} before={before} next={next} />
        <p class="fine">Latest first. Events are kept for 40 days.</p>
      </>
    );
    this.pages.send(response, { title: 'Webhooks', section: 'status', width: 'wide', content });
  }

  /** Sends a test event now, and answers with a page that has the result. */
  @PostForm('test')
  async test(@CurrentPageRequest() request: PageRequest): Promise<void> {
    const { accountId, query, response } = request;
    const webhook = this.config.webhooks.get(textIn(query['webhook'], MAX_NAME_LENGTH) ?? '');
    if (webhook === undefined) throw new ServiceError('not_found', 'The configuration has no such webhook.');
    const { name, url } = webhook;
    const entry = ['webhook.tested', `webhook:${name}`] as const;
    await this.actions.record(request, entry, 'A webhook was tested', { webhook: name });
    const { status, failure, eventId, durationMs } = await this.webhooks.sendTest(webhook);
    const isDelivered = failure === undefined;
    const text = `after ${seconds(durationMs)}: ${failure ?? `The receiver answered ${status ?? ''}.`}`;
    const page = resultPage({
      ...{ title: 'Test event', section: 'status', accountId },
      from: { path: WEBHOOKS_PATH, name: 'Webhooks' },
      facts: [
        ['Webhook', name],
        ['Host', url.host],
        ['Result', <Outcome isGood={isDelivered} label={isDelivered ? 'Delivered' : 'Failed'} text={text} />],
        ['Event', <code>{eventId}</code>],
      ],
      action: testPath(name),
      button: 'Send again',
      note: 'The event was sent once. It is not in the list of events, and is not sent again.',
    });
    this.pages.send(response, page);
  }

  @PostForm(':id/send')
  async send(@Param('id') id: string, @CurrentPageRequest() request: PageRequest): Promise<void> {
    if (!(await this.webhooks.sendAgain(id))) throw new ServiceError('not_found', 'This event does not exist.');
    this.actions.done(request, 'A webhook event is sent again', { deliveryId: id }, `${WEBHOOKS_PATH}?done=sent`);
  }
}

function testPath(webhook: string): string {
  return pathWith(`${WEBHOOKS_PATH}/test`, { webhook });
}

function stateOf({ delivered_at: deliveredAt, next_attempt_at: nextAt, attempts }: ListedDelivery) {
  if (nextAt === null) {
    return deliveredAt === null ? <span class="badge bad">Given up</span> : <span class="badge good">Delivered</span>;
  }
  return (
    <>
      <span class="badge">{attempts === 0 ? 'Waiting' : 'Retrying'}</span>
      <span class="fine since">
        <LocalTime at={new Date(nextAt)} shows="second" />
      </span>
    </>
  );
}
