import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { BodyParties, type BodyParty } from '../../http/body/body-parties.js';
import { networkOf } from '../network/client-network.js';
import { principalOfSession } from '../session/request-session.js';
import type { Principal } from './principal.js';

const MIB = 1024 * 1024;
/** As large as a body may be. */
const LARGEST_BODY_BYTES = 4 * MIB;
/** Beside one body for each stream that the tier allows: for requests that are about to be refused, or follow one another. */
const SPARE_BODIES = 4;
const SPARE_ARRIVING = 16;
/** Of one network without an account: the forms of the pages. Many people may share a network. */
const OF_NETWORK = { mostArriving: 32, mostBytes: 16 * MIB };

/** Counts a body against the account that sends it, by its tier, or against the client's network where there is no account. */
@Injectable()
export class RequestBodyParties implements BodyParties {
  partyOf(request: Request): BodyParty {
    const { user, session } = request;
    const principal = (user as Principal | undefined) ?? (session && principalOfSession(session));
    return principal === undefined
      ? { key: `network ${networkOf(request.ip)}`, ...OF_NETWORK }
      : partyOfAccount(principal);
  }
}

function partyOfAccount({ accountId, tier: { concurrentStreams = Infinity } }: Principal): BodyParty {
  return {
    key: `account ${accountId}`,
    mostArriving: concurrentStreams + SPARE_ARRIVING,
    mostBytes: (concurrentStreams + SPARE_BODIES) * LARGEST_BODY_BYTES,
  };
}
