import ipaddr from 'ipaddr.js';

/** All addresses that cannot be read are counted as one. */
export const unreadableAddress = 'address:unreadable';

/**
 * The subject that requests from an address are counted for (contract section 6): an IPv4 address by itself, as is its
 * IPv4-mapped IPv6 form; an IPv6 address by its /64, the least that a network hands to one customer. Some proxies write
 * the port into `X-Forwarded-For` (`192.0.2.7:8080`, `[2001:db8::1]:8080`): it does not count.
 */
export function addressSubject(address: string): string {
  const parsed = parseAddress(removePort(address));
  if (parsed === null) return unreadableAddress;
  if (parsed instanceof ipaddr.IPv4) return `address:${parsed.toString()}`;
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `address:${network.join(':')}::/64`;
}

const withPort =
  /^(?:(?<ipv4>\d{1,3}(?:\.\d{1,3}){3})|\[(?<ipv6>[\da-f:.]{2,45}(?:%\w{1,15})?)\]):(?<port>\d{1,5})$/i;
const portMax = 65_535;

/** An address without its port. An IPv6 address has one only behind brackets; any other text stays as it is. */
function removePort(text: string): string {
  const { ipv4, ipv6, port } = withPort.exec(text)?.groups ?? {};
  const address = ipv4 ?? (ipv6?.includes(':') ? ipv6 : undefined);
  return address === undefined || Number(port) > portMax ? text : address;
}

function parseAddress(address: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  try {
    return ipaddr.process(address);
  } catch {
    return null;
  }
}
