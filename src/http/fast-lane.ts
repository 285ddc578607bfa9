import type { IncomingHttpHeaders, IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import process from 'node:process';
import { createFastAdd, type FastAddOptions } from './fast-add.ts';
import { createFastRead, type FastReadOptions } from './fast-read.ts';
import { createAskStore, type FastStoreOptions } from './fast-store.ts';
import { createSender, takesHead } from './head.ts';
import type { Outbox } from './outbox.ts';

/** Answers a request, in its turn of the event loop or once the store has done its part, or hands it on. */
export type FastLane = (request: IncomingMessage, response: ServerResponse, longWay: RequestListener) => void;

type PartsOptions = FastReadOptions & FastAddOptions & FastStoreOptions;

export interface FastLaneOptions extends Omit<PartsOptions, 'send' | 'askStore'> {
  /** How long a connection is kept open for a next request, in milliseconds. */
  readonly keepAliveMs: number;
  /** Where answers to reads go. Adds share a commit and are answered one right after the other as it is. */
  readonly outbox: Outbox;
}

/**
 * The short way of the commonest requests by a remembered key that may do what it asks for: a plain GET of what is
 * kept ready, of an animal or of a page, and a plain POST of an animal that has come whole with its head. It keeps the
 * order of every request (key, limit, answer) and all headers, without the framework's 3 to 7 us around them
 * (docs/performance.md). It answers what succeeds; all else goes the long way, where nothing is counted or tried again.
 */
export function createFastLane(options: FastLaneOptions): FastLane {
  const send = createSender(options.keepAliveMs, options.outbox.put);
  const sendNow = createSender(options.keepAliveMs, (response, body) => response.end(body));
  const read = createFastRead({ ...options, send, askStore: createAskStore({ ...options, send }) });
  const add = createFastAdd({ ...options, askStore: createAskStore({ ...options, send: sendNow }) });

  return function receive(request, response, longWay) {
    // A response without a socket is one of a connection that has been closed.
    const isPlain = response.socket !== null && takesHead(response) && isPlainHead(request.headers);
    // By the next tick a body that came with its head waits to be read.
    if (isPlain && isPlainPost(request)) process.nextTick(add, request, response, longWay);
    else if (isPlain && isPlainGet(request)) read(request, response, longWay);
    else longWay(request, response);
  };
}

/** Whether a head asks for nothing but the thing itself: no preference, condition, page's origin or other protocol. */
function isPlainHead(headers: IncomingHttpHeaders): boolean {
  return (
    headers['if-none-match'] === undefined &&
    headers['prefer'] === undefined &&
    headers['transfer-encoding'] === undefined &&
    headers.origin === undefined &&
    headers.upgrade === undefined &&
    headers.host !== undefined &&
    !headers.host.includes(',')
  );
}

function isPlainGet({ method, url = '', headers }: IncomingMessage): boolean {
  return method === 'GET' && url.startsWith('/v1/') && headers['content-length'] === undefined;
}

function isPlainPost({ method, url, headers }: IncomingMessage): boolean {
  return (
    method === 'POST' &&
    url === '/v1/pets' &&
    headers['content-type'] === 'application/json' &&
    headers['content-encoding'] === undefined &&
    // Without a body what is behind the request is read before the next tick.
    Number(headers['content-length']) > 0
  );
}
