import { isWithin, type AddressRange } from '../../common/network/address-ranges.js';
import { readAddress } from '../../common/network/ip-address.js';

/**
 * Whether a webhook may connect to the address: to every public address, and to the allowed networks. Private, loopback,
 * link-local, multicast and reserved addresses are not public.
 */
export function mayConnectTo(address: string, allowed: readonly AddressRange[]): boolean {
  return readAddress(address)?.range() === 'unicast' || isWithin(allowed, address);
}
