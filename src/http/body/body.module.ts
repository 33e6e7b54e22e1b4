import { Global, Module } from '@nestjs/common';
import { RequestValidationPipe } from '../request/request-validation.pipe.js';
import { BodiesInFlight } from './bodies-in-flight.js';
import { BodyReader } from './read-body.js';
import { RequestBodies } from './request-bodies.js';
import { RequestBodyGuard } from './request-body.guard.js';

/** Reads and validates the bodies of requests. Another module must provide `BodyParties`. */
@Global()
@Module({
  providers: [RequestBodies, RequestBodyGuard, RequestValidationPipe, BodyReader, BodiesInFlight],
  exports: [RequestBodies, RequestBodyGuard, RequestValidationPipe],
})
export class BodyModule {}
