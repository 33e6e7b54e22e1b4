import {
  ApiOkResponse,
  ApiOperation,
  ApiProperty,
  ApiPropertyOptional,
  ApiServiceUnavailableResponse,
  ApiTags,
} from '../platform/http/open-api/api-decorators.js';
import { ErrorDto } from '../platform/http/open-api/api-errors.decorator.js';
import { Controller, Get, HttpStatus, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { DrainState } from '../platform/common/drain-state.js';
import { ServiceError } from '../platform/common/service-error.js';
import { VERSION } from '../platform/common/version.js';
import { DatabaseHealth } from '../platform/database/database-availability.js';
import { errorBody } from '../platform/http/errors/send-error.js';
import { DirectRoute } from '../platform/http/routing/direct-routes.js';
import { Public } from '../platform/http/routing/route-decorators.js';
import { RedisHealth } from '../platform/redis/redis-health.js';
import { UnsharedLimits } from '../usage/store/unshared-limits.js';
import { PluginReadiness } from './plugin-readiness.js';

class HealthReport {
  @ApiProperty({ example: 'healthy' })
  readonly status!: string;

  @ApiProperty({ example: '1.0.0' })
  readonly version!: string;
}

/** Plugins add parts with names of their own, with the values `up` and `down`. */
class ReadinessParts {
  @ApiProperty({ enum: ['up', 'down'] })
  readonly database!: 'up' | 'down';

  @ApiPropertyOptional({
    enum: ['up', 'down'],
    description:
      'Present if Redis is configured. `down` if Redis, or a master of a Redis Cluster, is unavailable. The service keeps answering then.',
  })
  readonly redis?: 'up' | 'down';

  @ApiPropertyOptional({
    enum: ['not_shared'],
    description:
      'Present if several processes use the database without Redis. Each of them counts the limits of the tiers for itself.',
  })
  readonly limits?: 'not_shared';

  @ApiProperty({ description: 'Whether this process is stopping.' })
  readonly draining!: boolean;
}

class ReadinessReport {
  @ApiProperty({ enum: ['ready', 'not_ready'] })
  readonly status!: 'ready' | 'not_ready';

  @ApiProperty()
  readonly parts!: ReadinessParts;

  @ApiPropertyOptional({ description: 'Present if the status is `not_ready`. The same format as in every error.' })
  readonly error?: ErrorDto;
}

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
