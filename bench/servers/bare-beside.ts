/**
 * A minimal node:http server that sends recorded answers of the service from memory: one to the requests of one key,
 * and another one to all other requests.
 *
 * Arguments:
 * - the port
 * - a file with the key and both answers
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { RecordedAnswer } from '../recording.ts';

export interface RecordedBeside {
  readonly authorization: string;
  readonly good: RecordedAnswer;
  readonly others: RecordedAnswer;
}

const [, , port, file = ''] = process.argv;
const { authorization, good, others } = JSON.parse(readFileSync(file, 'utf8')) as RecordedBeside;

const server = createServer((request, response) => {
  const { status, headers, body } = request.headers.authorization === authorization ? good : others;
  response.writeHead(status, headers);
  response.end(body);
});
server.listen(Number(port), '127.0.0.1');
process.once('SIGTERM', () => process.exit());
