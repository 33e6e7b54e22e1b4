import { Get, Ip, Res } from '@nestjs/common';
import type { Response } from 'express';
import { ServiceStatus } from '../../../observability/status/service-status.js';
import { LimitedByBudget } from '../../../throttling/budgets/limited-by-budget.decorator.js';
import { STATUS_ENTRY } from '../../layout/navigation.js';
import { PageController } from '../../page-controller.decorator.js';
import { Pages } from '../../pages.js';
import { OperatorOnly } from '../operator-only.decorator.js';
import { StatusView } from './status-view.js';

/** The page of operators with the state of this process. */
@PageController(STATUS_ENTRY.path.slice(1))
@LimitedByBudget('pages')
@OperatorOnly()
export class StatusController {
  constructor(
    private readonly pages: Pages,
    private readonly status: ServiceStatus,
  ) {}

  @Get()
  show(@Ip() address: string, @Res() response: Response): void {
    this.pages.send(response, {
      title: 'Status',
      section: 'status',
      content: StatusView({ status: this.status.snapshot(), address, now: new Date() }),
      script: 'status.js',
      style: 'usage.css',
      width: 'wide',
    });
  }
}
