/**
 * The bare server: node:http as in its guide. It sends the recorded bytes of the service from memory and does nothing
 * else. Arguments: a port, and a file with the recorded answer of each method.
 */
import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { Method } from '../exchange.ts';
import type { Recorded } from '../recording.ts';

const [, , port, file = ''] = process.argv;
const { keepAliveMs, answers } = JSON.parse(readFileSync(file, 'utf8')) as Recorded;

function send(response: ServerResponse, method: Method): void {
  const { status, headers, body } = answers[method] ?? { status: 404, headers: [], body: '' };
  response.writeHead(status, headers);
  response.end(body);
}

const server = createServer((request, response) => {
  if (request.method === 'GET' || request.method === 'HEAD') {
    send(response, request.method);
    return;
  }
  request.resume();
  request.on('end', () => send(response, request.method as Method));
});
server.keepAliveTimeout = keepAliveMs;
server.listen(Number(port), '127.0.0.1');
// An orderly exit, so that Node writes a profile if asked to.
process.once('SIGTERM', () => process.exit());
