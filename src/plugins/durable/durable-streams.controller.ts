import { Controller, Delete, HttpCode, Param, Res, Sse, type MessageEvent } from '@nestjs/common';
import type { Response } from 'express';
import { EMPTY, type Observable } from 'rxjs';
import { CurrentPrincipal, type Principal } from '../../plugin-api/core/auth.js';
import { ApiBearerAuth, ApiTags } from '../../plugin-api/core/http.js';
import { ShowsLimits, StreamSlots } from '../../plugin-api/core/throttling.js';
import { ApiCancelStream, ApiReadStream } from './api-durable-streams.decorator.js';
import { ClaimedRequest } from './durable-request.js';
import { DurableStreams } from './durable-streams.js';

/** Reads and cancels durable streams by their id. */
@ApiTags('Chat')
@ApiBearerAuth()
@ShowsLimits()
@Controller('chat/streams')
export class DurableStreamsController {
  constructor(
    private readonly streams: DurableStreams,
    private readonly slots: StreamSlots,
  ) {}

  @Sse(':id')
  @ApiReadStream()
  async read(
    @Param('id') id: string,
    @CurrentPrincipal() principal: Principal,
    @Res() response: Response,
  ): Promise<Observable<MessageEvent>> {
    const stream = await this.streams.find(id, principal);
    // The answer to HEAD has no body that could last.
    if (response.req.method === 'HEAD') return EMPTY;
    const reading = await this.streams.enter(stream, response, this.slots);
    const repetition = { kind: 'repeated', stream, reading } as const;
    response.req.context.durable = new ClaimedRequest(repetition, this.streams);
    return this.streams.read(repetition, principal, response);
  }

  @Delete(':id')
  @HttpCode(204)
  @ApiCancelStream()
  async cancel(@Param('id') id: string, @CurrentPrincipal() principal: Principal): Promise<void> {
    const stream = await this.streams.find(id, principal);
    await stream.cancel();
  }
}
