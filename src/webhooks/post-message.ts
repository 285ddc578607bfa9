import { Resolver } from 'node:dns/promises';
import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { type BlockList, isIP, type LookupFunction } from 'node:net';
import { secondMs } from '../clock.ts';
import { attemptMsMax } from './rules/retry.ts';
import { isAllowedTarget } from './rules/target-address.ts';
import type { AttemptFailure } from './webhook.ts';

/** The result of an attempt: the status and `Retry-After` of the response, or the reason why there was no response. */
export type AttemptResult =
  | { readonly status: number; readonly retryAfter: string | undefined }
  | { readonly failure: AttemptFailure };

/** Posts a message to a URL once. Never throws: an error is a result with `failure`. */
export type PostMessage = (
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  signal: AbortSignal,
) => Promise<AttemptResult>;

export interface PostOptions {
  /** Networks that may receive messages although their addresses are not global. */
  readonly allowed: BlockList;
  readonly allowsHttp: boolean;
  /** Timeout of an attempt. */
  readonly attemptMs?: number;
  /** Returns the addresses of a host name. If this function throws or returns none, the attempt fails. */
  readonly resolve?: (name: string, signal: AbortSignal) => Promise<readonly string[]>;
}

/**
 * Maximum number of bytes of a response body. The service discards the body. If the body is longer, the service closes
 * the connection.
 */
const answerBytesMax = 64 * 1024;
/** Maximum number of addresses of a host name that an attempt tries. */
const addressesMax = 4;

/**
 * Creates the function that posts messages. Clients choose the URLs, so the function must not reach internal addresses.
 *
 * Each attempt resolves the host name once, requires that every address is allowed, and connects only to these
 * addresses. The function follows no redirects and uses no proxy.
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

/**
 * Returns a function that returns true after the TLS handshake, false before it, and null before there is a connection.
 */
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

/**
 * Returns a lookup that gives the checked addresses. A DNS record that changes after the check therefore has no effect
 * (DNS rebinding).
 */
function answerWith(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  const [first] = found;
  return (_name, { all }, done) => {
    if (all === true) done(null, found);
    else done(null, first?.address ?? '', first?.family ?? 0);
  };
}

/** Reads and discards the body of a response, at most `answerBytesMax` bytes. */
function drain(response: IncomingMessage): void {
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > answerBytesMax) response.destroy();
  });
  response.on('error', () => undefined);
}

/** Timeout of one DNS query. The resolver sends a query at most twice. */
const questionMs = 3 * secondMs;

/**
 * Queries the name servers of the system. Does not use `dns.lookup`, which would block one of the few libuv threads
 * while a name server is slow.
 */
async function resolveName(name: string, signal: AbortSignal): Promise<readonly string[]> {
  if (/(?:^|\.)localhost\.?$/.test(name)) return ['127.0.0.1', '::1'];
  const resolver = new Resolver({ timeout: questionMs, tries: 2 });
  signal.addEventListener('abort', () => resolver.cancel(), { once: true });
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
}
