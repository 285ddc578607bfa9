import ipaddr from 'ipaddr.js';

/** All addresses that cannot be read are counted as one. */
export const unreadableAddress = 'address:unreadable';

/**
 * The subject that requests from an address are counted for (contract section 6): an IPv4 address is one by itself,
 * as is its IPv4-mapped IPv6 form; IPv6 addresses are one by /64, the least that a network hands to one customer.
 */
export function addressSubject(address: string): string {
  const parsed = parseAddress(address);
  if (parsed === null) return unreadableAddress;
  if (parsed instanceof ipaddr.IPv4) return `address:${parsed.toString()}`;
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `address:${network.join(':')}::/64`;
}

function parseAddress(address: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  try {
    return ipaddr.process(address);
  } catch {
    return null;
  }
}
