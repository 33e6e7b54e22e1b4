import { Body, Controller, Header, HttpCode, Injectable, Logger, Post, Req } from '@nestjs/common';
import { AttemptCounters, countAll, NetworkCounter } from '../attempts/attempt-counters.js';
import { BodyClass, type BodyParser, BodyValues } from '../../platform/http/body/body-class.decorator.js';
import {
  ApiBody,
  ApiOkResponse,
  ApiOperation,
  ApiProperty,
  ApiPropertyOptional,
  ApiTags,
} from '../../platform/http/open-api/api-decorators.js';
import { invalidRequest } from '../../platform/http/request/request-validation.pipe.js';
import type { Request } from 'express';
import { LeakedKeys } from '../../accounts/leaks/leaked-keys.js';
import { ApiErrors } from '../../platform/http/open-api/api-errors.decorator.js';
import { Public } from '../../platform/http/routing/route-decorators.js';

/** A scanner puts the findings of one place into one request. */
const BY_NETWORK = { name: 'leak-reports:network', attempts: 60, withinSeconds: 60 };

/** Limits the reports of leaked keys from each network, because anyone can send reports. */
@Injectable()
export class LeakReportLimit {
  private readonly networks: NetworkCounter;

  constructor(counters: AttemptCounters) {
    this.networks = new NetworkCounter(counters, BY_NETWORK);
  }

  /**
   * @param address `request.ip`.
   * @throws {ServiceError} `rate_limit_exceeded`.
   */
  async count(address: string | undefined): Promise<void> {
    await countAll(this.networks.countsOf(address), 'Too many reports from your network. Try again later.');
  }
}

const MAX_TOKENS = 500;
const MAX_BYTES = 256 * 1024;
/** A longer text is no key. The response does not repeat it. */
const MAX_LENGTH = 500;
/** Of the other members. The rest is cut off. */
const MAX_URL_LENGTH = 2_048;

/** A finding, as secret scanners send it. Only `token` is required, and other members are ignored. */
class LeakReport {
  @ApiProperty({ maxLength: MAX_LENGTH, description: 'The text that was found.' })
  readonly token!: string;

  @ApiPropertyOptional({ description: 'The name that the scanner has for this kind of key.' })
  readonly type?: string;

  @ApiPropertyOptional({ description: 'The public place of the text.' })
  readonly url?: string;

  @ApiPropertyOptional({ description: 'The part of the place, such as `content` or `commit`.' })
  readonly source?: string;
}

/** The answer to one finding. */
class LeakVerdict {
  @ApiProperty({ description: 'The `token` of the report. Empty if that is missing, no text, or longer than any key.' })
  readonly token_raw!: string;

  @ApiProperty({ description: 'The `type` of the report.' })
  readonly token_type!: string;

  @ApiProperty({
    enum: ['true_positive', 'false_positive'],
    description: '`true_positive`: the text is a key of this service, and the key is revoked.',
  })
  readonly label!: 'true_positive' | 'false_positive';
}

/** Parses the body of secret scanners: an array of findings. */
const LEAK_REPORTS: BodyParser<readonly LeakReport[]> = {
  shape: 'array',
  maxBytes: MAX_BYTES,
  parse(body) {
    const items: readonly unknown[] = Object.values(body);
    if (items.length > MAX_TOKENS) {
      throw invalidRequest([{ field: 'body', message: `can have at most ${MAX_TOKENS} items` }]);
    }
    return items.map((item) => {
      const { token, type, url, source } = (item ?? {}) as Readonly<Record<string, unknown>>;
      // An invalid item must not save the keys of the other items.
      const isText = typeof token === 'string' && token.length <= MAX_LENGTH;
      return { token: isText ? token : '', type: textOf(type), url: textOf(url), source: textOf(source) };
    });
  },
};

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, MAX_URL_LENGTH) : '';
}

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
