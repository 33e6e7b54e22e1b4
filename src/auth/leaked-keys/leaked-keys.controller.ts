import { Body, Controller, Header, HttpCode, Logger, Post, Req } from '@nestjs/common';
import type { Request } from 'express';
import { LeakedKeys } from '../../accounts/leaks/leaked-keys.js';
import { BodyClass } from '../../http/body/body-class.decorator.js';
import { BodyValues } from '../../http/body/json/body-values.decorator.js';
import { ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '../../http/open-api/api-decorators.js';
import { ApiErrors } from '../../http/open-api/api-errors.decorator.js';
import { Public } from '../../http/routing/public.decorator.js';
import { LeakReportLimit } from './leak-report-limit.js';
import { LEAK_REPORTS, LeakReport, LeakVerdict, MAX_TOKENS } from './leak-report.dto.js';

/** Of each finding, with members that the service ignores. */
const MAX_VALUES = 10;

/** Takes reports of secret scanners, in the format of the partner program of GitHub. */
@ApiTags('API keys')
@Controller('keys')
export class LeakedKeysController {
  private readonly logger = new Logger('LeakedKeys');

  constructor(
    private readonly keys: LeakedKeys,
    private readonly limit: LeakReportLimit,
  ) {}

  /** Needs no signature: a person who knows a key can use the key, and may therefore also end it. */
  @Public()
  @Post('leaked')
  @HttpCode(200)
  @Header('Cache-Control', 'no-store')
  @BodyValues(MAX_TOKENS * MAX_VALUES)
  @BodyClass(LEAK_REPORTS)
  @ApiOperation({
    operationId: 'reportLeakedKeys',
    summary: 'Revokes API keys that were found in public places',
    description:
      'For secret scanners, in the format of the secret scanning partner program of GitHub. Each text that is a key of this ' +
      `service is revoked at once. At most ${MAX_TOKENS} findings in one request, and 60 requests per minute from a network.`,
  })
  @ApiBody({ type: [LeakReport] })
  @ApiOkResponse({ type: [LeakVerdict] })
  @ApiErrors(400, 413, 415, 'rate_limit_exceeded', 'unavailable')
  async report(@Body() reports: readonly LeakReport[], @Req() request: Request): Promise<readonly LeakVerdict[]> {
    await this.limit.count(request.ip);
    const found = await this.keys.revoke(
      reports.map(({ token, url = '' }) => ({ text: token, url })),
      request.ip,
    );
    if (found.size > 0) this.logger.warn({ msg: 'API keys were reported as leaked and are revoked', keys: found.size });
    return reports.map(({ token, type = '' }) => ({
      token_raw: token,
      token_type: type,
      label: found.has(token) ? 'true_positive' : 'false_positive',
    }));
  }
}
