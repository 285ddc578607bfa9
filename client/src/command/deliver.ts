import { stringifyExactJson } from '../exact-json.ts';
import type { StoreEvent } from '../generated.ts';
import { signWebhook } from '../sign-webhook.ts';
import { startDeadline, wait } from '../waiting.ts';

/** Waits between the attempts to deliver an event, in seconds. They are shorter than those of the service. */
export const retrySeconds = [1, 2, 5, 10] as const;
/** The service waits as long for the head of a response. */
const attemptMsMax = 15_000;

export interface Receiver {
  readonly url: string;
  readonly secret: string;
}

export type Print = (line: string) => void;

/**
 * Posts an event until the receiver answers 2xx, and prints a line for each attempt. Gives up after the last of
 * `retrySeconds`. Throws on a 410, after which the service would disable the webhook, and on abort.
 */
export async function deliver(
  event: StoreEvent,
  receiver: Receiver,
  print: Print,
  signal: AbortSignal,
): Promise<void> {
  for (const pause of [...retrySeconds, null]) {
    const startedMs = performance.now();
    const result = await post(event, receiver, signal);
    const tookMs = Math.round(performance.now() - startedMs);
    const line = `${new Date().toISOString()}  ${event.id}  ${event.type}  ${result}  ${tookMs} ms`;
    if (typeof result === 'number' && result >= 200 && result < 300) return print(line);
    if (result === 410) {
      print(line);
      throw new Error('the receiver answered 410, after which the service disables a webhook');
    }
    print(`${line}  ${pause === null ? 'given up' : `next attempt in ${pause} s`}`);
    if (pause !== null) await wait(pause * 1_000, signal);
  }
}

/** Returns the status of the response, or what went wrong, in the words of `lastAttempt` of a webhook. */
async function post(event: StoreEvent, { url, secret }: Receiver, signal: AbortSignal) {
  const body = stringifyExactJson(event);
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'animal-store-webhooks',
    ...(await signWebhook(body, secret, { id: event.id })),
  };
  const deadline = startDeadline(attemptMsMax, signal);
  try {
    const init = { method: 'POST', headers, body, redirect: 'manual', signal: deadline.signal } as const;
    const response = await fetch(url, init);
    await response.body?.cancel();
    return response.status;
  } catch (error) {
    if (signal.aborted) throw error;
    return deadline.isOver() ? 'timeout' : nameFailure(error);
  } finally {
    deadline.end();
  }
}

function nameFailure(error: unknown): 'dns' | 'tls' | 'refused' {
  const { cause } = error as { readonly cause?: { readonly code?: unknown } };
  const code = String(cause?.code);
  if (/^(?:ENOTFOUND|EAI_)/.test(code)) return 'dns';
  return /CERT|SSL|TLS/.test(code) ? 'tls' : 'refused';
}
