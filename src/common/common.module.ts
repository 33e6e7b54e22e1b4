import { Global, Module } from '@nestjs/common';
import { DrainState } from './drain-state.js';
import { EventLoop } from './event-loop/event-loop.js';
import { ShedLoad } from './shed-load.js';

/** Provides the process-wide state that every module may need. */
@Global()
@Module({ providers: [DrainState, EventLoop, ShedLoad], exports: [DrainState, EventLoop, ShedLoad] })
export class CommonModule {}
