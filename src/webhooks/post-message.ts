import { Resolver } from 'node:dns/promises';
import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { type BlockList, isIP, type LookupFunction } from 'node:net';
import { secondMs } from '../clock.ts';
import { answerBytesMax, readAnswerStart } from './rules/answer-start.ts';
import { attemptMsMax } from './rules/retry.ts';
import { isAllowedTarget } from './rules/target-address.ts';
import { parseTargetUrl } from './rules/target-url.ts';
import type { AttemptFailure } from './webhook.ts';

interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  /** The start of the body (`readAnswerStart`). Null if the body is encoded, or its sender may not be shown. */
  readonly answerStart: string | null;
}

export type AttemptResult = Answer | { readonly failure: AttemptFailure };

/** Posts once. Resolves when the connection is closed: at most `bodyMsMax` after the timeout, or at once on abort. */
export type PostMessage = (
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  signal: AbortSignal,
) => Promise<AttemptResult>;

export interface PostOptions {
  /** Networks that may receive messages although their addresses are not global. */
  readonly allowed: BlockList;
  /** Networks whose answers may be shown, beside those of global addresses. */
  readonly shown: BlockList;
  /** Hides API keys in the start of an answer. A page for debugging may have those of the receiver. */
  readonly redact: (text: string) => string;
  readonly allowsHttp: boolean;
  /** Timeout of an attempt, up to the head of the response. */
  readonly attemptMs?: number;
  /** Returns the addresses of a host name. If this function throws or returns none, the attempt fails. */
  readonly resolve?: (name: string, signal: AbortSignal) => Promise<readonly string[]>;
}

/** Bounds of the body of a response. Its start is kept. Beyond a bound, the service closes the connection. */
const bodyBytesMax = 64 * 1024;
export const bodyMsMax = secondMs;
/** Maximum number of informational responses, such as 103, before the response. */
const informationMax = 10;
/** Maximum number of addresses of a host name that an attempt tries. */
const addressesMax = 4;

/**
 * Creates the function that posts messages. Clients choose the URLs, so it must not reach internal addresses: each
 * attempt resolves the host name once, requires that every address is allowed, and connects only to these addresses.
 * The function follows no redirects and uses no proxy.
 */
export function createPostMessage(options: PostOptions): PostMessage {
  const { allowed, shown, redact, allowsHttp, attemptMs = attemptMsMax, resolve = resolveName } = options;

  return async (text, headers, body, stopping) => {
    const url = parseTargetUrl(text, allowsHttp);
    if (url === null) return { failure: 'refused' };
    const endsAtMs = performance.now() + attemptMs;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), attemptMs);
    const signal = AbortSignal.any([stopping, late.signal]);
    try {
      const host = url.hostname.replace(/^\[|\]$/g, '');
      const addresses = isIP(host) === 0 ? await resolve(host, signal).catch(() => []) : [host];
      if (addresses.length === 0) return { failure: signal.aborted ? 'timeout' : 'dns' };
      if (!addresses.every((address) => isAllowedTarget(address, allowed)))
        return { failure: 'blocked_address' };
      const tried = addresses.slice(0, addressesMax);
      const shareMs = Math.max(1, Math.floor((endsAtMs - performance.now()) / tried.length));
      const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, {
        ...connectTo(tried, shareMs),
        method: 'POST',
        agent: false,
        signal,
        headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      });
      request.end(body);
      return await untilClosed(request, signal, { shown, redact });
    } finally {
      clearTimeout(timer);
    }
  };
}

function untilClosed(
  request: ClientRequest,
  signal: AbortSignal,
  { shown, redact }: Pick<PostOptions, 'shown' | 'redact'>,
): Promise<AttemptResult> {
  const { promise, resolve } = Promise.withResolvers<AttemptResult>();
  const connection = watchConnection(request);
  let result: AttemptResult | null = null;
  let readStart: () => string | null = () => null;
  let informations = 0;
  request.on('information', () => {
    informations += 1;
    if (informations > informationMax) request.destroy();
  });
  request.on('response', (response) => {
    const { statusCode: status = 0, headers } = response;
    // A status below 100 is no response of HTTP.
    result =
      status < 100
        ? { failure: 'refused' }
        : { status, retryAfter: headers['retry-after'], answerStart: null };
    const start = readBody(response, () => request.destroy());
    if (isAllowedTarget(connection.address, shown) && headers['content-encoding'] === undefined)
      // A redacted key can be longer than a short one.
      readStart = () => redact(readAnswerStart(start.bytes)).slice(0, answerBytesMax);
  });
  request.on('error', () => {
    result ??= { failure: signal.aborted ? 'timeout' : connection.isSecuring ? 'tls' : 'refused' };
  });
  // Emitted when the connection is closed, because it is not used again.
  request.on('close', () => {
    if (result !== null && 'status' in result) result = { ...result, answerStart: readStart() };
    resolve(result ?? { failure: 'refused' });
  });
  return promise;
}

function watchConnection(request: ClientRequest) {
  const connection = {
    /** The address that was connected. A host can have several. */
    address: '',
    /** A failure between the connection and its encryption is one of TLS. */
    isSecuring: false,
  };
  request.on('socket', (socket) => {
    socket.on('connect', () => {
      connection.address = socket.remoteAddress ?? '';
      connection.isSecuring = request.protocol === 'https:';
    });
    socket.on('secureConnect', () => {
      connection.isSecuring = false;
    });
  });
  return connection;
}

/** Reads the body of a response up to its bounds, and then calls `close`. Returns its start, which grows until then. */
function readBody(response: IncomingMessage, close: () => void) {
  const start = { bytes: Buffer.alloc(0) };
  let bytes = 0;
  const timer = setTimeout(close, bodyMsMax);
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (start.bytes.length < answerBytesMax)
      start.bytes = Buffer.concat([start.bytes, chunk.subarray(0, answerBytesMax - start.bytes.length)]);
    if (bytes > bodyBytesMax) close();
  });
  response.on('error', () => undefined);
  response.on('end', close);
  response.on('close', () => clearTimeout(timer));
  return start;
}

/** Options for the checked addresses alone (DNS rebinding). Each but the last may take `shareMs`. */
function connectTo(addresses: readonly string[], shareMs: number) {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  const lookup: LookupFunction = (_name, _options, done) => done(null, found);
  return { lookup, autoSelectFamily: true, autoSelectFamilyAttemptTimeout: shareMs };
}

/** Timeout of one DNS query. The resolver sends a query at most twice. */
const questionMs = 3 * secondMs;

/**
 * Queries the name servers for the addresses of a host, until `signal` aborts. Returns none if there are none. `dns.lookup` would
 * block one of the few libuv threads while a name server is slow.
 */
export async function resolveName(name: string, signal: AbortSignal): Promise<readonly string[]> {
  if (/(?:^|\.)localhost\.?$/.test(name)) return ['127.0.0.1', '::1'];
  const resolver = new Resolver({ timeout: questionMs, tries: 2 });
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel);
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  // With a listener, the signal of every attempt would live until the service stops.
  signal.removeEventListener('abort', cancel);
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
}
