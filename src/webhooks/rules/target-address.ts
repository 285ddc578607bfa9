import { BlockList, isIP } from 'node:net';

/**
 * Networks whose addresses are not global according to the IANA registries of special-purpose addresses (RFC 6890).
 * Also includes 6to4 and Teredo, because these IPv6 networks lead to IPv4 addresses. Of all IPv6 addresses, only those
 * in 2000::/3 can be global.
 */
const special = createNetworks([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
]);
const globalIpv6 = createNetworks(['2000::/3']);

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

/**
 * Returns true if the service may send messages to an IP address. The address must be global or in a network that the
 * operator allows.
 */
export function isAllowedTarget(address: string, allowed: BlockList): boolean {
  return isIP(address) !== 0 && (isGlobal(address) || allowed.check(address, familyOf(address)));
}

function isGlobal(address: string): boolean {
  const family = familyOf(address);
  if (family === 'ipv6' && !globalIpv6.check(address, family)) return false;
  return !special.check(address, family);
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}
