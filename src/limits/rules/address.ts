import ipaddr from 'ipaddr.js';

/**
 * Returns the subject for requests from an address (contract section 6).
 *
 * - An IPv4 address is one subject, also in its IPv4-mapped IPv6 form.
 * - All IPv6 addresses of a /64 are one subject, because a /64 is the smallest network that a customer gets.
 * - All texts that are not an address are one subject.
 * - A port is ignored. Some proxies write one into `X-Forwarded-For` (`192.0.2.7:8080`, `[2001:db8::1]:8080`).
 */
export function addressSubject(address: string): string {
  return `address:${readNetwork(address)}`;
}

const readerPrefix = 'reader:';

/** Returns the subject for documentation requests from an address, which are counted separately. */
export function readerSubject(address: string): string {
  return readerPrefix + readNetwork(address);
}

/** True if the subject comes from `readerSubject`. */
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

/** Removes the port of an address. An IPv6 address with a port is in brackets. Other texts stay unchanged. */
export function removePort(text: string): string {
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
