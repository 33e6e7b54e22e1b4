import { Global, Module } from '@nestjs/common';
import { DrainState } from './drain-state.js';
import { JsonBodyGuard } from './json-body.guard.js';

/** What every module may need of the process. */
@Global()
@Module({ providers: [DrainState, JsonBodyGuard], exports: [DrainState, JsonBodyGuard] })
export class CommonModule {}
