import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { BodyClients, type BodyClient } from '../../platform/http/body/bodies-in-flight.js';
import { networkOf } from '../network/client-network.js';
import { callerIn } from './request-session.js';
import type { Principal } from '../principal/principal.js';

const MIB = 1024 * 1024;
/** The maximum size of a usual body. */
const MAX_BODY_BYTES = 4 * MIB;
/** In addition to one body for each stream of the tier. For requests that are soon refused or follow each other quickly. */
const SPARE_BODIES = 4;
const SPARE_ARRIVING = 16;
/** An account can send at least one body of the largest size, which only the compatible interfaces accept. */
const LARGEST_BODY_BYTES = 32 * MIB;
/** The limits of one network for bodies without an account, such as the forms of pages. Many people may share a network. */
const OF_NETWORK = { maxArriving: 32, maxBytes: 16 * MIB };

/**
 * Counts a body against the account that sends it, with limits that depend on the tier. A body without an account counts
 * against the client's network.
 */
@Injectable()
export class RequestBodyClients implements BodyClients {
  clientOf(request: Request): BodyClient {
    const caller = callerIn(request.context);
    return caller === undefined ? { key: `network ${networkOf(request.ip)}`, ...OF_NETWORK } : clientOfAccount(caller);
  }
}

function clientOfAccount({ accountId, tier: { concurrentStreams = Infinity } }: Principal): BodyClient {
  return {
    key: `account ${accountId}`,
    maxArriving: concurrentStreams + SPARE_ARRIVING,
    maxBytes: Math.max((concurrentStreams + SPARE_BODIES) * MAX_BODY_BYTES, LARGEST_BODY_BYTES),
  };
}
