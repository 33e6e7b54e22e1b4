import { Module } from '@nestjs/common';
import { ClientConnections } from './client-connections.js';
import { UnreadAnswers } from './unread-answers.js';

/** What lies between the sockets of clients and Express. */
@Module({ providers: [ClientConnections, UnreadAnswers], exports: [ClientConnections] })
export class HttpModule {}
