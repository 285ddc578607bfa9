/**
 * The bare server: a minimal node:http server that sends recorded answers of the service from memory.
 *
 * Arguments:
 * - the port
 * - a file with the recorded answer of each method
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
// With `process.exit`, unlike after a signal, Node writes the profile of `--cpu-prof`.
process.once('SIGTERM', () => process.exit());
