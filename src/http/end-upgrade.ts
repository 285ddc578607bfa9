import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/**
 * An Upgrade is not taken: the request is answered as it stands, and its connection ends with the answer. Node's parser
 * drops what comes in one packet behind such a request, and would read on in the midst of it with the next.
 */
export function endAfterUpgrade(server: Server): void {
  const end = ({ headers }: IncomingMessage, response: ServerResponse) => {
    if (headers.upgrade !== undefined) response.shouldKeepAlive = false;
  };
  server.prependListener('request', end);
  server.prependListener('checkExpectation', end);
}
