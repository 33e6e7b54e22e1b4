import { Global, Module } from '@nestjs/common';
import { DrainState } from './drain-state.js';

/** What every module may need of the process. */
@Global()
@Module({ providers: [DrainState], exports: [DrainState] })
export class CommonModule {}
