import ipaddr from 'ipaddr.js';

/**
 * The subject that requests from an address are counted for (contract section 6): an IPv4 address is one by itself,
 * as is its IPv4-mapped IPv6 form; IPv6 addresses are one by /64, the least that a network hands to one customer. All
 * texts that are no address are one. Some proxies write the port into `X-Forwarded-For` (`192.0.2.7:8080`,
 * `[2001:db8::1]:8080`): it does not count.
 */
export function addressSubject(address: string): string {
  return `address:${readNetwork(address)}`;
}

const readerPrefix = 'reader:';

/** The subject that requests for the documentation from an address are counted for: the same, apart from the others. */
export function readerSubject(address: string): string {
  return readerPrefix + readNetwork(address);
}

/** Whether a subject is one of `readerSubject`. */
export function isReader(subject: string): boolean {
  return subject.startsWith(readerPrefix);
}

function readNetwork(address: string): string {
  const parsed = parseAddress(removePort(address));
  if (parsed === null) return 'unreadable';
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(':')}::/64`;
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
