import { Resolver } from 'node:dns/promises';
import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { type BlockList, isIP, type LookupFunction } from 'node:net';
import { secondMs } from '../clock.ts';
import { attemptMsMax } from './rules/retry.ts';
import { isAllowedTarget } from './rules/target-address.ts';
import type { AttemptFailure } from './webhook.ts';

/** The result of an attempt: status and `Retry-After` of the answer, or why there was none. */
export type AttemptResult =
  | { readonly status: number; readonly retryAfter: string | undefined }
  | { readonly failure: AttemptFailure };

/** Posts a message to a URL once. Never throws: every error is a result. */
export type PostMessage = (
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  signal: AbortSignal,
) => Promise<AttemptResult>;

/** Which addresses may receive messages. */
export interface PostOptions {
  /** Networks that are allowed although they are not global. */
  readonly allowed: BlockList;
  readonly allowsHttp: boolean;
  /** The timeout of an attempt. */
  readonly attemptMs?: number;
  /** The addresses of a host name. Throws if there are none. */
  readonly resolve?: (name: string, signal: AbortSignal) => Promise<readonly string[]>;
}

/** How much of an answer's body is read, and discarded, before the connection is closed. */
export const answerBytesMax = 64 * 1024;
/** How many addresses of one name an attempt tries at most. */
const addressesMax = 4;

/**
 * Makes the only outgoing connections of the service. Each attempt resolves the name once, requires that every address
 * is allowed, and connects to these addresses alone. It follows no redirects and uses no proxy.
 */
export function createPostMessage(options: PostOptions): PostMessage {
  const { allowed, allowsHttp, attemptMs = attemptMsMax, resolve = resolveName } = options;

  return async (text, headers, body, outerSignal) => {
    const url = new URL(text);
    if (url.protocol !== 'https:' && !allowsHttp) return { failure: 'refused' };
    const signal = AbortSignal.any([outerSignal, AbortSignal.timeout(attemptMs)]);
    const host = url.hostname.replace(/^\[|\]$/g, '');
    let addresses: readonly string[];
    try {
      addresses = isIP(host) === 0 ? await resolve(host, signal) : [host];
    } catch {
      return { failure: signal.aborted ? 'timeout' : 'dns' };
    }
    if (addresses.length === 0) return { failure: 'dns' };
    if (!addresses.every((address) => isAllowedTarget(address, allowed)))
      return { failure: 'blocked_address' };
    return await send(url, addresses.slice(0, addressesMax), headers, body, signal);
  };
}

function send(
  url: URL,
  addresses: readonly string[],
  headers: Readonly<Record<string, string>>,
  body: string,
  signal: AbortSignal,
): Promise<AttemptResult> {
  const { promise, resolve } = Promise.withResolvers<AttemptResult>();
  const isTls = url.protocol === 'https:';
  const request = (isTls ? requestHttps : requestHttp)(url, {
    method: 'POST',
    agent: false,
    lookup: answerWith(addresses),
    signal,
    headers: { ...headers, 'content-length': Buffer.byteLength(body) },
  });
  const isSecured = watchHandshake(request);
  request.on('response', (response) => {
    resolve({ status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'] });
    drain(response);
  });
  request.on('error', () => {
    if (signal.aborted) resolve({ failure: 'timeout' });
    else resolve({ failure: isTls && isSecured() === false ? 'tls' : 'refused' });
  });
  request.on('close', () => resolve({ failure: 'refused' }));
  request.end(body);
  return promise;
}

/** Whether the TLS handshake of the connection is complete; null before there is a connection. */
function watchHandshake(request: ClientRequest): () => boolean | null {
  let isSecured: boolean | null = null;
  request.on('socket', (socket) => {
    socket.on('connect', () => {
      isSecured = false;
    });
    socket.on('secureConnect', () => {
      isSecured = true;
    });
  });
  return () => isSecured;
}

/** A lookup that returns the checked addresses, so that a changed DNS record has no effect (DNS rebinding). */
function answerWith(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  const [first] = found;
  return (_name, { all }, done) => {
    if (all === true) done(null, found);
    else done(null, first?.address ?? '', first?.family ?? 0);
  };
}

/** Reads an answer to its end, or up to `answerBytesMax`. */
function drain(response: IncomingMessage): void {
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > answerBytesMax) response.destroy();
  });
  response.on('error', () => undefined);
}

/** The timeout of one DNS query; the resolver tries twice. */
const questionMs = 3 * secondMs;

/**
 * Queries the name servers of the system. `dns.lookup` is not used: it occupies one of the few threads of the process
 * while a receiver's name server is slow.
 */
async function resolveName(name: string, signal: AbortSignal): Promise<readonly string[]> {
  if (/(?:^|\.)localhost\.?$/.test(name)) return ['127.0.0.1', '::1'];
  const resolver = new Resolver({ timeout: questionMs, tries: 2 });
  signal.addEventListener('abort', () => resolver.cancel(), { once: true });
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
}
