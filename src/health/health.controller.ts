import { Controller, Get, HttpStatus, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { DrainState } from '../common/drain-state.js';
import { ServiceError } from '../common/service-error.js';
import { VERSION } from '../common/version.js';
import { DatabaseHealth } from '../database/database-health.js';
import { errorBody } from '../http/errors/error-body.js';
import {
  ApiOkResponse,
  ApiOperation,
  ApiServiceUnavailableResponse,
  ApiTags,
} from '../http/open-api/api-decorators.js';
import { DirectRoute } from '../http/routing/direct-routes.js';
import { Public } from '../http/routing/public.decorator.js';
import { RedisHealth } from '../redis/redis-health.js';
import { UnsharedLimits } from '../usage/store/unshared-limits.js';
import { HealthReport, ReadinessReport, type ReadinessParts } from './health.dto.js';
import { PluginReadiness } from './plugin-readiness.js';

const REPORT: HealthReport = { status: 'healthy', version: VERSION };
const REPORT_JSON = JSON.stringify(REPORT);

@ApiTags('Health')
@Public()
@Controller('health')
export class HealthController {
  constructor(
    private readonly database: DatabaseHealth,
    private readonly redis: RedisHealth,
    private readonly unsharedLimits: UnsharedLimits,
    private readonly drainState: DrainState,
    private readonly plugins: PluginReadiness,
  ) {}

  /** Answers liveness probes. Does not check a store or an upstream, because a restart would not fix them. */
  @DirectRoute()
  @Get()
  @ApiOperation({ operationId: 'getHealth', summary: 'Reports that the process is running' })
  @ApiOkResponse({ type: HealthReport })
  health(@Req() _request: Request, @Res() response: Response): void {
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.setHeader('Content-Length', REPORT_JSON.length);
    response.end(REPORT_JSON);
  }

  @Get('ready')
  @ApiOperation({ operationId: 'getReadiness', summary: 'Reports whether the process is ready for requests' })
  @ApiOkResponse({ type: ReadinessReport })
  @ApiServiceUnavailableResponse({ type: ReadinessReport })
  async ready(@Res({ passthrough: true }) response: Response): Promise<ReadinessReport> {
    const [database, redis, ofPlugins] = await Promise.all([
      this.database.ping(),
      this.redis.ping(),
      this.plugins.parts(),
    ]);
    const isUp = database && !Object.values(ofPlugins).includes('down');
    const parts: ReadinessParts = {
      ...ofPlugins,
      database: database ? 'up' : 'down',
      ...(redis !== undefined && { redis: redis ? 'up' : 'down' }),
      ...(this.unsharedLimits.isWarning && { limits: 'not_shared' }),
      draining: this.drainState.isDraining,
    };
    response.setHeader('Cache-Control', 'no-store');
    // Redis does not affect readiness. Without Redis, each replica continues with a share of the limits. If all replicas
    // became unready at once, the whole service would stop.
    if (isUp && !parts.draining) return { status: 'ready', parts };
    response.status(HttpStatus.SERVICE_UNAVAILABLE);
    const error = parts.draining
      ? new ServiceError('shutting_down', 'This process is stopping.')
      : new ServiceError('unavailable', database ? 'A part of the service is down.' : 'The database does not answer.');
    return { status: 'not_ready', parts, ...errorBody(error, response.req.context.requestId) };
  }
}
