import { Module } from '@nestjs/common';
import { ClientConnections } from './connections/client-connections.js';
import { UnreadResponses } from './connections/unread-responses.js';
import { Surfaces } from './surface/surfaces.js';

/** Manages the connections of clients. This layer is between the client sockets and Express. */
@Module({ providers: [ClientConnections, UnreadResponses, Surfaces], exports: [ClientConnections, Surfaces] })
export class HttpModule {}
