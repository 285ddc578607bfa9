import type { IncomingMessage } from 'node:http';
import { BlockList, isIPv6 } from 'node:net';
import { removePort } from '../../limits/rules/address.ts';
import type { TrustProxy } from '../../setting-values.ts';

export type ClientAddress = (request: IncomingMessage) => string;

/** Takes the address of the peer or, behind trusted proxies, the last one in `X-Forwarded-For` that is not trusted. */
export function createClientAddress(trust: TrustProxy): ClientAddress {
  const peerOf = ({ socket }: IncomingMessage) => socket.remoteAddress ?? '';
  if (trust === false) return peerOf;
  const isTrusted = typeof trust === 'number' ? (_: string, hop: number) => hop < trust : listed(trust);

  return (request) => {
    const forwarded = request.headers['x-forwarded-for'];
    const hops = forwarded === undefined ? [] : String(forwarded).split(',').reverse();
    const addresses = [peerOf(request), ...hops.map((hop) => hop.trim())];
    const own = addresses.findIndex((address, hop) => !isTrusted(address, hop));
    return addresses.at(own === -1 ? addresses.length - 1 : own) ?? '';
  };
}

/** Returns a function that returns true for an address, with or without a port, in one of these networks. */
export function listed(networks: readonly string[]): (address: string) => boolean {
  const trusted = new BlockList();
  for (const network of networks) {
    const [address = '', prefix] = network.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (prefix === undefined) trusted.addAddress(address, family);
    else trusted.addSubnet(address, Number(prefix), family);
  }
  return (hop) => {
    const address = removePort(hop);
    return trusted.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  };
}
