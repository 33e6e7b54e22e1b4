import { Global, Module } from '@nestjs/common';
import { DrainState } from './drain-state.js';
import { EventLoop } from './event-loop/event-loop.js';
import { RouteMetadata } from './route-metadata.js';
import { ShedLoad } from './shed-load.js';
import { HourlyJobs } from './timers/periodic-task.js';

const PROVIDERS = [DrainState, EventLoop, HourlyJobs, RouteMetadata, ShedLoad];

/** Provides the process-wide state that every module may need. */
@Global()
@Module({ providers: PROVIDERS, exports: PROVIDERS })
export class CommonModule {}
