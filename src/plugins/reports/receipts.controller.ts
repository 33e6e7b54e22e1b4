import { Controller, Get, Header, Param } from '@nestjs/common';
import { CurrentPrincipal, type Principal } from '../../plugin-api/core/auth.js';
import { ServiceError } from '../../plugin-api/core/common.js';
import {
  ApiBearerAuth,
  ApiErrors,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiTags,
  BUDGET_HEADERS,
} from '../../plugin-api/core/http.js';
import { LimitedByBudget } from '../../plugin-api/core/throttling.js';
import { StreamReceipt } from './stream-receipt.dto.js';
import { ReceiptSemaphore, StreamReceipts } from './stream-receipts.js';

@ApiTags('Usage')
@ApiBearerAuth()
@Controller('usage/streams')
export class ReceiptsController {
  constructor(
    private readonly receipts: StreamReceipts,
    private readonly semaphore: ReceiptSemaphore,
  ) {}

  @Get(':request_id')
  @LimitedByBudget('reports')
  @Header('Cache-Control', 'no-store')
  @ApiOperation({
    operationId: 'getReceipt',
    summary: 'Returns the receipt of one of your streams',
    description:
      'The receipt is there within a second of the end of the stream, however the stream ended. The request does not count ' +
      'towards the limits of the tier. Each account has 60 reports and receipts per minute.',
  })
  @ApiParam({ name: 'request_id', description: 'The `X-Request-Id` of the response of `POST /chat/stream`.' })
  @ApiOkResponse({ type: StreamReceipt, headers: BUDGET_HEADERS })
  @ApiErrors(401, 'not_found', 429, 'unavailable')
  async receipt(
    @CurrentPrincipal() { accountId }: Principal,
    @Param('request_id') requestId: string,
  ): Promise<StreamReceipt> {
    const receipt = await this.semaphore.run(accountId, () => this.receipts.find(accountId, requestId));
    if (receipt !== undefined) return receipt;
    throw new ServiceError(
      'not_found',
      'There is no receipt for this request id. A running stream has no receipt yet.',
    );
  }
}
