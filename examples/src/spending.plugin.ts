import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import {
  ChatPlugin,
  defineError,
  UsageReports,
  type AdminCommand,
  type MetricFamily,
  type MetricsProvider,
  type ReadinessCheck,
} from 'chat-streaming-service';

const REFRESH_MS = 30_000;

export const NoSpending = defineError('acme_no_spending', { status: 404, description: 'Nothing was spent today.' });

/** Reads what each account has spent today, in UTC. The largest sum comes first. */
@Injectable()
export class Spending {
  constructor(private readonly reports: UsageReports) {}

  async today() {
    const costs = new Map<string, number>();
    for await (const rows of this.reports.pages(new Date())) {
      for (const { accountId, cost = 0 } of rows) costs.set(accountId, (costs.get(accountId) ?? 0) + cost);
    }
    return [...costs].map(([accountId, cost]) => ({ accountId, cost })).sort((one, other) => other.cost - one.cost);
  }
}

/** A job that reads the sums twice a minute, for a metric. The process is not ready if the sums are older than two minutes. */
@Injectable()
export class SpendingJob implements OnApplicationBootstrap, OnModuleDestroy, MetricsProvider, ReadinessCheck {
  readonly name = 'acme_spending';
  readonly families: readonly MetricFamily[] = [
    { type: 'gauge', name: 'acme_spent_today', help: 'What was spent today.', samples: () => [[{}, this.spent]] },
  ];
  private timer: NodeJS.Timeout | undefined;
  private spent = 0;
  private readAt = 0;

  constructor(private readonly spending: Spending) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.read();
    this.timer = setInterval(() => void this.read().catch(() => undefined), REFRESH_MS).unref();
  }

  onModuleDestroy = () => clearInterval(this.timer);

  isReady = () => Date.now() - this.readAt < 4 * REFRESH_MS;

  private async read(): Promise<void> {
    this.spent = (await this.spending.today()).reduce((sum, { cost }) => sum + cost, 0);
    this.readAt = Date.now();
  }
}

/** `npm run admin -- spending top` */
@Injectable()
export class TopSpender implements AdminCommand {
  static readonly command = { name: 'spending top' };

  constructor(private readonly spending: Spending) {}

  async run() {
    const [top] = await this.spending.today();
    if (top === undefined) throw new NoSpending('Nothing was spent today.');
    return top;
  }
}

const admin = { commands: [TopSpender], providers: [Spending] };
const extensions = { metrics: [SpendingJob], readiness: [SpendingJob], errors: [NoSpending], admin };

@ChatPlugin({ name: 'spending', compatibility: '^1', providers: [Spending], exports: [Spending], ...extensions })
export class SpendingPlugin {}
