import { Global, Module } from '@nestjs/common';
import { BodiesInFlight } from './bodies-in-flight.js';
import { JsonBodyGuard } from './json-body.guard.js';
import { BodyReader } from './read-body.js';

/** Reads the bodies of requests. Needs a provider of `BodyParties`. */
@Global()
@Module({ providers: [JsonBodyGuard, BodyReader, BodiesInFlight], exports: [JsonBodyGuard] })
export class BodyModule {}
