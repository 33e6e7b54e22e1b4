import { networkOf, siteOf } from '../network/client-network.js';
import type { AttemptCounter, AttemptCounters, AttemptLimit } from './attempt-counters.js';
import { keyOf, type Count } from './count-attempt.js';

/** An IPv6 site has up to 65,536 networks. */
const NETWORKS_OF_A_SITE = 10;

/** Counts the attempts of each network, and those of each IPv6 site, which may have ten times as many. */
export class NetworkCounter {
  private readonly byNetwork: AttemptCounter;
  private readonly bySite: AttemptCounter;

  /** @param limit the limit of a network. Its name contains `network`. */
  constructor(counters: AttemptCounters, { name, attempts, withinSeconds }: AttemptLimit) {
    const ofSite = { name: name.replace('network', 'site'), attempts: attempts * NETWORKS_OF_A_SITE, withinSeconds };
    this.byNetwork = counters.counter({ name, attempts, withinSeconds });
    this.bySite = counters.counter(ofSite);
  }

  get counters(): readonly AttemptCounter[] {
    return [this.byNetwork, this.bySite];
  }

  /**
   * Returns what to count for a client. The site of an IPv4 address is its network, which has a lower limit already.
   *
   * @param address `request.ip`.
   */
  countsOf(address: string | undefined): readonly Count[] {
    const [network, site] = [networkOf(address), siteOf(address)];
    const ofNetwork: Count = [this.byNetwork, keyOf(network)];
    return site === network ? [ofNetwork] : [ofNetwork, [this.bySite, keyOf(site)]];
  }
}
