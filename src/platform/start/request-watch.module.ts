import { Global, Module } from '@nestjs/common';
import { CONFIG, type Config, type LogLevel } from '../config/config.js';
import { RequestCounts, RequestLog } from './request-log.js';
import { RequestWatch } from './request-watch.js';

const LEVELS_WITH_REQUESTS: readonly LogLevel[] = ['info', 'debug', 'trace'];

/** Watches all requests: a log line for each one, and counts of them. */
@Global()
@Module({
  providers: [
    RequestCounts,
    {
      provide: RequestWatch,
      inject: [CONFIG],
      useFactory: ({ logLevel }: Config) => {
        const watch = new RequestWatch();
        if (LEVELS_WITH_REQUESTS.includes(logLevel)) watch.observe(new RequestLog(logLevel !== 'info'));
        return watch;
      },
    },
  ],
  exports: [RequestCounts, RequestWatch],
})
export class RequestWatchModule {}
