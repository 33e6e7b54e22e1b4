import { Module } from '@nestjs/common';
import { ClientConnections } from './connections/client-connections.js';
import { UnreadAnswers } from './connections/unread-answers.js';

/** What lies between the sockets of clients and Express. */
@Module({ providers: [ClientConnections, UnreadAnswers], exports: [ClientConnections] })
export class HttpModule {}
