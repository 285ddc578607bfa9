import ipaddr from 'ipaddr.js';

/**
 * Returns the subject for requests from an address: an IPv4 address, also in its IPv4-mapped form; an IPv6 /64, which is
 * the smallest network that a customer gets; or one for all other texts. A port, which some proxies write, is ignored.
 */
export function addressSubject(address: string): string {
  return `address:${readNetwork(address)}`;
}

const readerPrefix = 'reader:';

/** Returns the subject for documentation requests from an address, which are counted separately. */
export function readerSubject(address: string): string {
  return readerPrefix + readNetwork(address);
}

/** The tables of counts. Each has its own bound. */
export type SubjectKind = 'accounts' | 'addresses' | 'readers';

/** Returns the table in which a subject is counted. */
export function kindOf(subject: string): SubjectKind {
  if (subject.startsWith('account:')) return 'accounts';
  return subject.startsWith(readerPrefix) ? 'readers' : 'addresses';
}

/** Returns the IPv4 address or the IPv6 /64 of an address, without its port; `unreadable` for all other texts. */
export function readNetwork(address: string): string {
  const parsed = parseAddress(removePort(address));
  if (parsed === null) return 'unreadable';
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(':')}::/64`;
}

const addressWithPort =
  /^(?:(?<ipv4>\d{1,3}(?:\.\d{1,3}){3})|\[(?<ipv6>[\da-f:.]{2,45}(?:%\w{1,15})?)\])(?::(?<port>\d{1,5}))?$/i;
const portMax = 65_535;

/** Removes the port of an address, and the brackets of an IPv6 address. Other texts stay unchanged. */
export function removePort(text: string): string {
  const { ipv4, ipv6, port = '0' } = addressWithPort.exec(text)?.groups ?? {};
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
