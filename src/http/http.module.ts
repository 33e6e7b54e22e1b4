import { Module } from '@nestjs/common';
import { ClientConnections } from './connections/client-connections.js';
import { UnreadAnswers } from './connections/unread-answers.js';

/** Manages the connections of clients. This layer is between the client sockets and Express. */
@Module({ providers: [ClientConnections, UnreadAnswers], exports: [ClientConnections] })
export class HttpModule {}
