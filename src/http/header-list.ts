import { securityHeaders } from './security-headers.ts';

type Headers = Readonly<Record<string, string>>;

const securityList = Object.entries(securityHeaders).flat();

/**
 * The headers of an answer on the fast lane: names and values in turn, which `writeHead` takes as they stand. An object put
 * together of the same parts costs more to make, and each of its names is looked up again to be written. No
 * name may come twice.
 */
export function listHeaders(requestId: string, limit: Headers, own: Headers): string[] {
  const list = ['x-request-id', requestId, ...securityList];
  addHeaders(list, limit);
  addHeaders(list, own);
  return list;
}

function addHeaders(list: string[], headers: Headers): void {
  for (const name in headers) list.push(name, headers[name] ?? '');
}
