import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen } from './local-server.ts';
import type { Ending } from './service.ts';

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly id: string;
}

/** The answer to a message: a status, a status with headers, or a function of the response. */
export type Reaction =
  | number
  | { readonly status: number; readonly headers: Record<string, string> }
  | ((response: ServerResponse) => void);

/** Starts a receiver. Stops it after the test. */
export async function startReceiver(test: Ending) {
  const received: Received[] = [];
  const reactions: Reaction[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    received.push({ headers: request.headers, body, id: String(request.headers['webhook-id']) });
    react(response, reactions.shift() ?? 204);
    server.emit('received');
  });
  const { origin } = await listen(test, server);

  return {
    url: `${origin}/hook`,
    received,
    /** The answers to the next messages, in order. Later messages get 204. */
    reactions,
    /** Returns the ids of the messages, in order of arrival. */
    listIds: () => received.map(({ id }) => id),
    /** Resolves when at least `count` messages have arrived in total. */
    async untilReceived(count: number): Promise<void> {
      while (received.length < count) await once(server, 'received');
    },
  };
}

function react(response: ServerResponse, reaction: Reaction): void {
  if (typeof reaction === 'function') reaction(response);
  else if (typeof reaction === 'number') response.writeHead(reaction).end();
  else response.writeHead(reaction.status, reaction.headers).end();
}
