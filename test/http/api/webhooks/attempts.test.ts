import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { scopes } from '../../../../src/accounts/account.ts';
import { expectError } from '../../../support/expect-error.ts';
import { until } from '../../../support/processes.ts';
import { startReceiver } from '../../../support/receiver.ts';
import { startWithKey } from '../../../support/service.ts';

const { service, key } = await startWithKey({ after }, { ENVIRONMENT: 'development' }, 'pro', undefined, {
  scopes,
});

const send = (line: string, body?: unknown, by = key) => service.send(by, line, body);

/** Creates a webhook, pings it, and returns its attempts as text once there is one. */
async function ping(url: string): Promise<string> {
  const { id } = (await (await send('POST /webhooks', { url, types: ['pet.added'] })).json()) as {
    id: string;
  };
  await send(`POST /webhooks/${id}/ping`);
  const list = async () => (await send(`GET /webhooks/${id}/attempts`)).text();
  return until(list, (text) => text !== '[]', 30_000);
}

test('the start of an answer has its control characters as escapes of JSON', async (t) => {
  const receiver = await startReceiver(t);
  receiver.reactions.push((response) => void response.writeHead(500).end('\0\n\u001b[1m\u007f\u009b\u202eé'));
  const text = await ping(receiver.url);
  assert.match(text, /"answerStart":"\\u0000\\n\\u001b\[1m\\u007f\\u009b\\u202eé"/);
  const [attempt] = JSON.parse(text);
  assert.deepEqual(Object.keys(attempt), [
    ...['eventId', 'at', 'result', 'durationMs'],
    ...['attempt', 'isManual', 'answerStart'],
  ]);
});

test('no line of the log has a part of an answer', async (t) => {
  const receiver = await startReceiver(t);
  receiver.reactions.push((response) => void response.writeHead(410).end('a body of a partner'));
  assert.match(await ping(receiver.url), /a body of a partner/);
  const log = service.readLog();
  assert.match(log, /a webhook is disabled/);
  assert.ok(!log.includes('a body of'));
});

test('a key that may not read the events of a webhook gets no attempts of it', async () => {
  const { id } = (await (await send('POST /webhooks', { url: 'https://a.example' })).json()) as {
    id: string;
  };
  const made = await send('POST /keys', { scopes: ['webhooks:manage'] });
  const { key: blind } = (await made.json()) as { key: string };
  await expectError(await send(`GET /webhooks/${id}/attempts`, undefined, blind), 403, 'scope_missing');
  assert.equal((await send(`GET /webhooks/${id}`, undefined, blind)).status, 200);
});
