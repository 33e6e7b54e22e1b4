import { Get, Ip, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { ReplicaStatuses } from '../../../observability/status/replica-statuses.js';
import { LimitedByBudget } from '../../../throttling/budgets/limited-by-budget.decorator.js';
import { STATUS_ENTRY } from '../../layout/navigation.js';
import { PageController } from '../../page-controller.decorator.js';
import { Pages } from '../../pages.js';
import { OperatorOnly } from '../operator-only.decorator.js';
import { StatusView } from './status-view.js';

/** The page of operators with the state of all replicas together, and of one replica in detail. */
@PageController(STATUS_ENTRY.path.slice(1))
@LimitedByBudget('pages')
@OperatorOnly()
export class StatusController {
  constructor(
    private readonly pages: Pages,
    private readonly statuses: ReplicaStatuses,
  ) {}

  @Get()
  async show(@Query('replica') wanted: unknown, @Ip() address: string, @Res() response: Response): Promise<void> {
    const { own, others } = await this.statuses.all();
    const replicas = [own, ...(others ?? [])];
    const found = replicas.find(({ id }) => id === wanted);
    this.pages.send(response, {
      title: 'Status',
      section: 'status',
      content: StatusView({
        replicas,
        shown: found ?? own,
        areOthersUnknown: others === undefined,
        isGone: wanted !== undefined && found === undefined,
        address,
        now: own.snapshot.at,
      }),
      script: 'status.js',
      style: 'usage.css',
      width: 'wide',
    });
  }
}
