import type { DeliveryPage, ListedDelivery } from '../../../webhooks/delivery/webhook-deliveries.js';
import { NO_ACCOUNT } from '../../../webhooks/outbox/webhook-event.js';
import { PageForm } from '../../forms/page-form.js';
import { Moment } from '../../format/times.js';
import { positionQuery } from '../../parts/list-position.js';
import { Notice } from '../../parts/notice.js';
import { OlderLinks } from '../../parts/older-links.js';
import { pathWith } from '../../parts/query.js';
import { Table } from '../../parts/table.js';
import { AccountName, type Emails } from '../account-name.js';
import { WEBHOOKS_PATH } from './webhooks-path.js';

interface WebhooksViewProps {
  readonly operatorId: string;
  readonly found: DeliveryPage;
  readonly emails: Emails;
  readonly isFirstPage: boolean;
  /** The names of the webhooks in the configuration. */
  readonly webhooks: readonly string[];
  /** What the page reports right after a change. */
  readonly done?: string | undefined;
}

/** The page with the events that the service has sent to webhooks, or will send. */
export function WebhooksView({ operatorId, found, emails, isFirstPage, webhooks, done }: WebhooksViewProps) {
  const { rows, next } = found;
  return (
    <>
      <h1>Webhooks</h1>
      <Notice tone="good">{done}</Notice>
      <p>
        {webhooks.length === 0
          ? 'The configuration has no webhooks.'
          : `The configuration has these webhooks: ${webhooks.join(', ')}.`}
      </p>
      {rows.length === 0 ? (
        <p class="empty">There are no events yet.</p>
      ) : (
        <Deliveries operatorId={operatorId} rows={rows} emails={emails} webhooks={webhooks} />
      )}
      <OlderLinks
        latest={isFirstPage ? undefined : WEBHOOKS_PATH}
        older={next && pathWith(WEBHOOKS_PATH, { ...positionQuery(next) })}
      />
      <p class="fine">Latest first. Times are in UTC. Events are kept for 40 days.</p>
    </>
  );
}

interface DeliveriesProps extends Pick<WebhooksViewProps, 'operatorId' | 'emails' | 'webhooks'> {
  readonly rows: readonly ListedDelivery[];
}

function Deliveries({ operatorId, rows, emails, webhooks }: DeliveriesProps) {
  const sendAgain = ({ id, webhook }: ListedDelivery) =>
    webhooks.includes(webhook) ? (
      <PageForm
        action={`${WEBHOOKS_PATH}/${id}/send`}
        accountId={operatorId}
        button="Send again"
        tone="quiet"
        describedBy={`delivery-${id}`}
      />
    ) : null;
  return (
    <Table
      caption="Events, latest first"
      isCards
      rows={rows}
      headId={({ id }) => `delivery-${id}`}
      columns={[
        { title: 'Event', cell: ({ type }) => <code>{type}</code> },
        { title: 'Time (UTC)', cell: ({ created_at: at }) => <Moment at={new Date(at)} withSeconds /> },
        {
          title: 'Account',
          cell: ({ account_id: id }) => (id === NO_ACCOUNT ? 'operator key' : <AccountName id={id} emails={emails} />),
        },
        { title: 'Webhook', cell: ({ webhook }) => webhook },
        { title: 'State', cell: (delivery) => <State delivery={delivery} /> },
        { title: 'Attempts', isNumber: true, cell: ({ attempts }) => attempts },
        { title: 'Last error', cell: ({ last_error: error }) => error ?? <span class="none">–</span> },
        { title: 'Actions', isActions: true, cell: sendAgain },
      ]}
    />
  );
}

function State({ delivery }: { readonly delivery: ListedDelivery }) {
  const { delivered_at: deliveredAt, next_attempt_at: nextAt, attempts } = delivery;
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
