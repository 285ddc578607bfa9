import { json } from 'node:stream/consumers';
import { Webhook as Verifier } from 'standardwebhooks';
import { secondMs } from '../../src/clock.ts';
import { signMessage } from '../../src/webhooks/sign-message.ts';
import { untilWaiting } from '../support/instances.ts';
import { startServer } from '../support/local-server.ts';
import { startReceiver } from '../support/receiver.ts';
import { startRelay } from '../support/relay.ts';
import type { Ending } from '../support/service.ts';
import { openShop } from './shop.ts';

/**
 * Starts a service, a relay in front of it, a receiver of webhooks, and a server with which the tests in
 * `client-python/tests/` move them. Returns the environment of these tests.
 */
export async function startStage(test: Ending): Promise<Record<string, string>> {
  const { service, apiKey, baseUrl } = await openShop(test, { ENVIRONMENT: 'development' });
  const relay = await startRelay(test, baseUrl);
  const receiver = await startReceiver(test);
  /** What a test may do, by its name. The arguments and the result are JSON. */
  const acts: Record<string, (given: Given) => unknown> = {
    advance: ({ seconds }) => service.clock.advance(seconds * secondMs),
    createKey: ({ perMinute }) => service.createKey('enterprise', { perMinute, perDay: 100_000 }),
    createReader: () => service.createKey('enterprise', undefined, { scopes: ['pets:read'] }),
    countPets: () => service.countPets(),
    importPets: ({ count }) => service.importPets(count),
    breakOff: ({ count, bytes }) => relay.breakOff(count, bytes),
    cut: () => relay.cut(),
    silence: () => relay.silence(),
    mend: () => relay.mend(),
    untilWaiting: ({ count }) => untilWaiting(service.app, count),
    takeReceived: async () => {
      await receiver.untilReceived(1);
      return receiver.received.splice(0);
    },
    sign: ({ id, body, secrets, atSeconds }) =>
      signMessage({ id, body }, secrets.map(readSecret), atSeconds * secondMs),
    verify: ({ body, headers, secret }) => new Verifier(secret).verify(body, headers),
  };
  const stage = await startServer(test, async (request, response) => {
    const act = acts[request.url?.slice(1) ?? ''];
    const given = (await json(request)) as Given;
    try {
      response.end(JSON.stringify((await act?.(given)) ?? null));
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  return {
    ANIMAL_STORE_URL: baseUrl,
    ANIMAL_STORE_KEY: apiKey,
    RELAY_URL: relay.url,
    RECEIVER_URL: receiver.url,
    STAGE_URL: stage,
  };
}

/** The arguments of all acts. Each act has those that it reads. */
interface Given {
  readonly seconds: number;
  readonly perMinute: number;
  readonly count: number;
  readonly bytes: number;
  readonly id: string;
  readonly body: string;
  readonly secret: string;
  readonly secrets: readonly string[];
  readonly headers: Record<string, string>;
  readonly atSeconds: number;
}

function readSecret(text: string): Uint8Array {
  return Buffer.from(text.replace('whsec_', ''), 'base64');
}
