import { startRelay } from './relay.ts';
import type { Ending } from './service.ts';

/** Types of messages after which a client waits: Query, and Sync, which follows Bind and Execute. */
const askingTypes = new Set(['Q', 'S'].map((type) => type.charCodeAt(0)));

/** Length of the head of a message. The first message of a connection has no type byte. */
const headBytes = { first: 4, later: 5 };

const errorType = 'E'.charCodeAt(0);

/**
 * Starts a relay in front of the server at `url`, which counts round trips: how often a client waited for an answer of
 * the server. It also lists the errors of the server. Stops it after the test.
 */
export async function startCounting(test: Ending, url: string) {
  let roundTrips = 0;
  const errorCodes: string[] = [];
  const count = (type: number) => {
    if (askingTypes.has(type)) roundTrips += 1;
  };
  const noteError = (type: number, body: Buffer) => {
    if (type === errorType) errorCodes.push(/\0C(\w{5})\0/.exec(body.toString())?.[1] ?? '');
  };
  const relay = await startRelay(
    test,
    url,
    () => createReader(count, true),
    () => createReader(noteError, false),
  );
  return { url: relay.url, countRoundTrips: () => roundTrips, errorCodes };
}

/** Returns a parser that calls `onMessage` with the type and the body of each message. The first of a client has type 0. */
function createReader(onMessage: (type: number, body: Buffer) => void, isOfClient: boolean) {
  let rest: Buffer = Buffer.alloc(0);
  let isFirst = isOfClient;
  return (piece: Buffer): void => {
    rest = Buffer.concat([rest, piece]);
    for (;;) {
      const head = isFirst ? headBytes.first : headBytes.later;
      if (rest.length < head) return;
      const end = head - 4 + rest.readUInt32BE(head - 4);
      if (rest.length < end) return;
      onMessage(isFirst ? 0 : rest.readUInt8(), rest.subarray(head, end));
      rest = rest.subarray(end);
      isFirst = false;
    }
  };
}
