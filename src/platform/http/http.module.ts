import { Module, Global } from '@nestjs/common';
import { ClientConnections } from './connections/client-connections.js';
import { UnreadResponses } from './connections/unread-responses.js';
import { ServiceErrorFilter } from './errors/service-error.filter.js';
import { PluginsInUse } from './surface/plugins-in-use.js';
import { Surfaces } from './surface/surfaces.js';
import { RequestValidationPipe } from './request/request-validation.pipe.js';
import { BodiesInFlight } from './body/bodies-in-flight.js';
import { BodyReader } from './body/read-body.js';
import { RequestBodyGuard } from './body/request-body.guard.js';

/** Manages the connections of clients. This layer is between the client sockets and Express. */
@Module({
  providers: [ClientConnections, PluginsInUse, ServiceErrorFilter, Surfaces, UnreadResponses],
  exports: [ClientConnections, PluginsInUse, ServiceErrorFilter, Surfaces],
})
export class HttpModule {}

/** Reads and validates the bodies of requests. Other modules must provide `BodyClients` and `RefusedBodies`. */
@Global()
@Module({
  providers: [RequestBodyGuard, RequestValidationPipe, BodyReader, BodiesInFlight],
  exports: [RequestBodyGuard, RequestValidationPipe],
})
export class BodyModule {}
