import { once } from 'node:events';
import { createServer, Server as HttpServer, type RequestListener } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import type { Ending } from './service.ts';

/** Starts a server on a free port, and closes it with its connections after the test. Returns its address. */
export async function listen(test: Ending, server: Server): Promise<URL> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  test.after(() => {
    if (server instanceof HttpServer) server.closeAllConnections();
    server.close();
  });
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

/** Starts an HTTP server with a listener. Returns its origin. */
export async function startServer(test: Ending, listener: RequestListener): Promise<string> {
  return (await listen(test, createServer(listener))).origin;
}
