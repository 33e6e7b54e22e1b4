import { Controller, Get, Header, Inject, Param, Query, StreamableFile } from '@nestjs/common';
import { Readable } from 'node:stream';
import { CurrentPrincipal, type Principal } from '../../plugin-api/core/auth.js';
import { type Clock, CLOCK, ServiceError } from '../../plugin-api/core/common.js';
import {
  ApiBearerAuth,
  ApiErrors,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiQuery,
  ApiTags,
  ROUTE_RATE_HEADERS,
} from '../../plugin-api/core/http.js';
import { RateLimited } from '../../plugin-api/core/throttling.js';
import { ReportSemaphore, SpendBudgets, usagePeriod, UsageReports } from '../../plugin-api/core/usage.js';
import { reportJson, UsageReport } from './report-json.js';
import { StreamReceipt } from './stream-receipt.dto.js';
import { ReceiptSemaphore, StreamReceipts } from './stream-receipts.js';

const JSON_TYPE = 'application/json; charset=utf-8';
const DAY = { required: false, schema: { type: 'string', format: 'date' } } as const;

@ApiTags('Usage')
@ApiBearerAuth()
@Controller('usage')
export class UsageController {
  constructor(
    private readonly reports: UsageReports,
    private readonly semaphore: ReportSemaphore,
    private readonly receipts: StreamReceipts,
    private readonly lookups: ReceiptSemaphore,
    private readonly budgets: SpendBudgets,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  @Get()
  @RateLimited('reports')
  @Header('Cache-Control', 'no-store')
  @ApiOperation({
    operationId: 'getUsage',
    summary: 'Reports the usage of your account by day, model and key',
    description:
      'The request does not count towards the limits of the tier. Each account has 60 reports and receipts per minute.',
  })
  @ApiQuery({ name: 'from', ...DAY, description: 'The first day, in UTC. Default: 29 days before the last day.' })
  @ApiQuery({ name: 'to', ...DAY, description: 'The last day, in UTC. Default: today.' })
  @ApiOkResponse({ type: UsageReport, headers: ROUTE_RATE_HEADERS })
  @ApiErrors('invalid_request', 401, 429, 'unavailable')
  async own(
    @CurrentPrincipal() principal: Principal,
    @Query() query: Readonly<Record<string, string | string[] | undefined>>,
  ): Promise<StreamableFile> {
    const period = usagePeriod({ from: dayIn(query, 'from'), to: dayIn(query, 'to') }, this.now());
    const { accountId } = principal;
    const pieces = await this.semaphore.run(accountId, async () => {
      const budget = this.budgets.limits(principal) ? await this.budgets.stateOf(principal) : undefined;
      return reportJson(period, this.reports.dailyPages(accountId, period.from, period.to), budget);
    });
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    return new StreamableFile(Readable.from(pieces), { type: JSON_TYPE, length });
  }

  @Get('streams/:request_id')
  @RateLimited('reports')
  @Header('Cache-Control', 'no-store')
  @ApiOperation({
    operationId: 'getReceipt',
    summary: 'Returns the receipt of one of your streams',
    description:
      'The receipt is there within a second of the end of the stream, however the stream ended. The request does not count ' +
      'towards the limits of the tier. Each account has 60 reports and receipts per minute.',
  })
  @ApiParam({ name: 'request_id', description: 'The `X-Request-Id` of the response of `POST /chat/stream`.' })
  @ApiOkResponse({ type: StreamReceipt, headers: ROUTE_RATE_HEADERS })
  @ApiErrors(401, 'not_found', 429, 'unavailable')
  async receipt(
    @CurrentPrincipal() { accountId }: Principal,
    @Param('request_id') requestId: string,
  ): Promise<StreamReceipt> {
    const receipt = await this.lookups.run(accountId, () => this.receipts.find(accountId, requestId));
    if (receipt !== undefined) return receipt;
    throw new ServiceError(
      'not_found',
      'There is no receipt for this request id. A running stream has no receipt yet.',
    );
  }
}

function dayIn(
  query: Readonly<Record<string, string | string[] | undefined>>,
  name: 'from' | 'to',
): string | undefined {
  const unknown = Object.keys(query).find((member) => member !== 'from' && member !== 'to');
  const value = query[name];
  if (unknown === undefined && !Array.isArray(value)) return value;
  const [field, message] = unknown === undefined ? [name, 'appears twice'] : [unknown, 'is not a known parameter'];
  throw new ServiceError('invalid_request', `The query is invalid: ${field} ${message}.`, {
    details: [{ field, message }],
  });
}
