import { Module } from '@nestjs/common';
import { ClientConnections } from './connections/client-connections.js';
import { UnreadResponses } from './connections/unread-responses.js';
import { ServiceErrorFilter } from './errors/service-error.filter.js';
import { PluginsInUse } from './surface/plugins-in-use.js';
import { Surfaces } from './surface/surfaces.js';

/** Manages the connections of clients. This layer is between the client sockets and Express. */
@Module({
  providers: [ClientConnections, PluginsInUse, ServiceErrorFilter, Surfaces, UnreadResponses],
  exports: [ClientConnections, PluginsInUse, ServiceErrorFilter, Surfaces],
})
export class HttpModule {}
