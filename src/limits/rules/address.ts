import ipaddr from 'ipaddr.js';

/**
 * The subject that requests from an address are counted for (contract section 6): an IPv4 address is one by itself,
 * as is its IPv4-mapped IPv6 form; IPv6 addresses are one by /64, the least that a network hands to one customer. All
 * texts that are no address are one.
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
  const parsed = parseAddress(address);
  if (parsed === null) return 'unreadable';
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(':')}::/64`;
}

function parseAddress(address: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  try {
    return ipaddr.process(address);
  } catch {
    return null;
  }
}
