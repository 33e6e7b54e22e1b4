import { Global, Module } from '@nestjs/common';
import { BodiesInFlight } from './bodies-in-flight.js';
import { RequestBodyGuard } from './request-body.guard.js';
import { BodyReader } from './read-body.js';

/** Reads the bodies of requests. Another module must provide `BodyParties`. */
@Global()
@Module({ providers: [RequestBodyGuard, BodyReader, BodiesInFlight], exports: [RequestBodyGuard] })
export class BodyModule {}
