import { BlockList, isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Of all IPv6 addresses, only these can be global. */
const globalIpv6 = createNetworks(['2000::/3']);

/** The names that ipaddr.js has for global addresses. IANA calls those of AS112 and AMT global too. */
const globalRanges: readonly string[] = ['unicast', 'as112', 'as112v6', 'amt'];

/** Parses networks in CIDR form. An address without a prefix is a network of one address. */
export function createNetworks(texts: readonly string[]): BlockList {
  const networks = new BlockList();
  for (const text of texts) {
    const [address = '', prefix] = text.split('/');
    const family = familyOf(address);
    networks.addSubnet(address, Number(prefix ?? (family === 'ipv4' ? 32 : 128)), family);
  }
  return networks;
}

/** True if the service may send to an IP address: it must be global or in a network that the operator allows. */
export function isAllowedTarget(address: string, allowed: BlockList): boolean {
  return isIP(address) !== 0 && (isGlobal(address) || allowed.check(address, familyOf(address)));
}

/** Returns true if the registries of IANA call the address global (RFC 6890). */
function isGlobal(address: string): boolean {
  const family = familyOf(address);
  if (family === 'ipv6' && !globalIpv6.check(address, family)) return false;
  return globalRanges.includes(ipaddr.parse(address).range());
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}
