/**
 * The measure: what node:http reaches, used as its guide says, where nothing is done but to send the bytes that the
 * service sent, from memory.
 * Arguments: a port, and a file with the recorded answer of each method.
 */
import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { setServerFlags } from '../../src/cli/v8-flags.ts';
import type { Recorded } from '../recording.ts';

const [, , port, file = ''] = process.argv;
const { keepAliveMs, answers } = JSON.parse(readFileSync(file, 'utf8')) as Recorded;

function send(response: ServerResponse, method: 'GET' | 'POST'): void {
  const { status, headers, body } = answers[method] ?? { status: 404, headers: [], body: '' };
  response.writeHead(status, headers);
  response.end(body);
}

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    send(response, 'GET');
    return;
  }
  request.resume();
  request.on('end', () => send(response, 'POST'));
});
server.keepAliveTimeout = keepAliveMs;
server.listen(Number(port), '127.0.0.1', setServerFlags);
// An orderly end, so that a profile is written where one is asked for.
process.once('SIGTERM', () => process.exit());
