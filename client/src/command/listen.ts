import { AnimalStore } from '../client.ts';
import type { Retry } from '../retry.ts';
import { encodeBase64, importSecret } from '../webhook-signature.ts';
import type { Connection } from './connection.ts';
import { deliver, type Print } from './deliver.ts';

export interface ListenCommand extends Connection {
  readonly name: 'listen';
  readonly forwardTo: string;
  /** The event after which to begin. Null: the end of the feed. */
  readonly from: string | null;
  /** Null: all types. */
  readonly types: ReadonlySet<string> | null;
  /** Null: a new one. */
  readonly secret: string | null;
}

const secretBytes = 32;
/** Together with the pauses of the client, longer than a restart of the service. */
const maxRetries = 100;

/** Follows the feed and delivers each event to the receiver, one after the other, until the signal is aborted. */
export async function listen(command: ListenCommand, print: Print, signal: AbortSignal): Promise<void> {
  const { apiKey, baseUrl, forwardTo: url, types } = command;
  const onRetry = ({ waitMs, error }: Retry) =>
    print(`${error.message}; the next request follows in ${(waitMs / 1_000).toFixed(1)} s`);
  const { events } = new AnimalStore({ apiKey, baseUrl, maxRetries, onRetry });
  const secret = command.secret ?? makeSecret();
  await importSecret(secret);
  let position = command.from ?? (await events.list({ after: 'now', signal })).next;
  if (command.secret === null) print(`secret: ${secret}`);
  print(`sending the events after ${position} to ${url}; Ctrl-C ends`);
  try {
    for await (const event of events.follow({ after: position, signal })) {
      if (types === null || types.has(event.type)) await deliver(event, { url, secret }, print, signal);
      position = event.id;
    }
  } finally {
    print(`ended; to go on from here: --from ${position}`);
  }
}

function makeSecret(): string {
  return `whsec_${encodeBase64(crypto.getRandomValues(new Uint8Array(secretBytes)))}`;
}
