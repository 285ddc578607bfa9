import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { operations } from '../src/http/api/operations.ts';
import { writeTarget } from '../src/http/docs-site/files/samples.js';
import { chooseRequest } from '../src/http/docs-site/reference/samples.ts';
import { createExampleRequests, putIdentifiers } from '../test/support/example-requests.ts';
import { startServer } from '../test/support/local-server.ts';
import { findFreePort } from '../test/support/redis-server.ts';
import type { Ending } from '../test/support/service.ts';

const program = join(import.meta.dirname, 'node_modules/.bin/prism');

/**
 * Sends the example of every operation through Prism as a validating proxy. Returns the violations that Prism reports
 * in requests and answers, and the answers that are not 2xx.
 */
export async function judgeByProxy(descriptionFile: string, origin: string, key: string): Promise<string[]> {
  const examples = createExampleRequests(`${origin}/v1`, key, operations);
  const proxy = await startProxy(descriptionFile, `${origin}/v1`);
  const complaints: string[] = [];
  try {
    await expectComplaint(proxy.url, key);
    for (const operation of operations) {
      const request = chooseRequest(operation, proxy.url);
      const made = await examples.prepare(operation);
      const target = putIdentifiers(writeTarget(request), made);
      const body = request.body && putIdentifiers(request.body.text, made);
      const headers: Record<string, string> = { authorization: `Bearer ${key}` };
      if (request.body !== null) headers['content-type'] = request.body.type;
      const answer = await fetch(proxy.url + target, { method: operation.method, headers, body });
      const found = answer.headers.get('sl-violations') ?? (answer.ok ? null : await answer.text());
      if (found !== null) complaints.push(`${operation.id}: ${answer.status} ${found}`);
    }
  } finally {
    await proxy.stop();
  }
  const verdict = complaints.length === 0 ? 'no violation' : `\n  ${complaints.join('\n  ')}`;
  process.stdout.write(`/openapi.json: Prism over ${operations.length} operations: ${verdict}\n`);
  return complaints;
}

type Changes = Readonly<Record<string, string>>;

/** What a later release sends in place of what this one sends. */
const later: Changes = { 'pet.added': 'pet.renamed', not_found: 'animal_lost' };

/**
 * Sends answers with an event type and an error code of a later release through Prism. Returns the violations that Prism
 * reports. Throws if Prism reports none in an event with the data of another type.
 */
export async function judgeGrowth(
  test: Ending,
  descriptionFile: string,
  origin: string,
  key: string,
): Promise<string[]> {
  let changes = later;
  const relay = await startServer(test, async (request, response) => {
    const answer = await fetch(origin + request.url, { headers: { authorization: `Bearer ${key}` } });
    const body = (await answer.text()).replace(/"([a-z._]+)"/g, (text, word) =>
      word in changes ? `"${changes[word]}"` : text,
    );
    const { 'content-length': _, ...headers } = Object.fromEntries(answer.headers);
    response.writeHead(answer.status, headers).end(body);
  });
  const proxy = await startProxy(descriptionFile, `${relay}/v1`);
  test.after(proxy.stop);
  const findViolations = async (path: string) => {
    const answer = await fetch(proxy.url + path, { headers: { authorization: `Bearer ${key}` } });
    const body = await answer.text();
    if (!Object.values(changes).some((word) => body.includes(`"${word}"`)))
      throw new Error(`the relay has changed nothing in ${body}`);
    return answer.headers.get('sl-violations');
  };
  const events = '/events?type=pet.added&limit=1';
  const found = [await findViolations(events), await findViolations('/pets/404')];
  changes = { 'pet.added': 'order.reserved' };
  if ((await findViolations(events)) === null)
    throw new Error('Prism reports no violation in an event with the data of another type');
  const complaints = found.filter((one) => one !== null);
  const verdict = complaints.length === 0 ? 'no violation' : `\n  ${complaints.join('\n  ')}`;
  process.stdout.write(`/openapi.json: Prism over answers of a later release: ${verdict}\n`);
  return complaints;
}

/** Throws if Prism does not report an invalid request. Then a run without complaints would prove nothing. */
async function expectComplaint(proxyUrl: string, key: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const answer = await fetch(`${proxyUrl}/pets`, { method: 'POST', headers, body: '{"name":"Rex"}' });
  if (!answer.headers.has('sl-violations'))
    throw new Error('Prism reports no violation in an invalid request');
}

async function startProxy(descriptionFile: string, upstream: string) {
  const port = await findFreePort();
  const args = ['proxy', descriptionFile, upstream, '--port', String(port), '--host', '127.0.0.1'];
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  for await (const line of createInterface({ input: child.stdout })) if (line.includes('listening')) break;
  child.stdout.resume();
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      child.kill();
      await exited;
    },
  };
}
