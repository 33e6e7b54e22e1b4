import { Global, Module } from '@nestjs/common';
import { BodiesInFlight } from './bodies-in-flight.js';
import { JsonBodyGuard } from './json-body.guard.js';
import { BodyReader } from './read-body.js';

/** Reads the bodies of requests. Another module must provide `BodyParties`. */
@Global()
@Module({ providers: [JsonBodyGuard, BodyReader, BodiesInFlight], exports: [JsonBodyGuard] })
export class BodyModule {}
