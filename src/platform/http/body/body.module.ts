import { Global, Module } from '@nestjs/common';
import { RequestValidationPipe } from '../request/request-validation.pipe.js';
import { BodiesInFlight } from './bodies-in-flight.js';
import { BodyReader } from './read-body.js';
import { RequestBodyGuard } from './request-body.guard.js';

/** Reads and validates the bodies of requests. Other modules must provide `BodyClients` and `RefusedBodies`. */
@Global()
@Module({
  providers: [RequestBodyGuard, RequestValidationPipe, BodyReader, BodiesInFlight],
  exports: [RequestBodyGuard, RequestValidationPipe],
})
export class BodyModule {}
