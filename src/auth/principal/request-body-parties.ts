import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { BodyParties, type BodyParty } from '../../http/body/body-parties.js';
import { networkOf } from '../network/client-network.js';
import { callerIn } from '../session/request-session.js';
import type { Principal } from './principal.js';

const MIB = 1024 * 1024;
/** The maximum size of a body. */
const LARGEST_BODY_BYTES = 4 * MIB;
/** In addition to one body for each stream of the tier. For requests that are soon refused or follow each other quickly. */
const SPARE_BODIES = 4;
const SPARE_ARRIVING = 16;
/** The limits of one network for bodies without an account, such as the forms of pages. Many people may share a network. */
const OF_NETWORK = { mostArriving: 32, mostBytes: 16 * MIB };

/**
 * Counts a body against the account that sends it, with limits that depend on the tier. A body without an account counts
 * against the client's network.
 */
@Injectable()
export class RequestBodyParties implements BodyParties {
  partyOf(request: Request): BodyParty {
    const caller = callerIn(request.context);
    return caller === undefined ? { key: `network ${networkOf(request.ip)}`, ...OF_NETWORK } : partyOfAccount(caller);
  }
}

function partyOfAccount({ accountId, tier: { concurrentStreams = Infinity } }: Principal): BodyParty {
  return {
    key: `account ${accountId}`,
    mostArriving: concurrentStreams + SPARE_ARRIVING,
    mostBytes: (concurrentStreams + SPARE_BODIES) * LARGEST_BODY_BYTES,
  };
}
