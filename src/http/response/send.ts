import { pipeline, type Readable } from 'node:stream';
import { lingerMs } from '../connection/bounds.ts';
import type { Exchange } from '../exchange.ts';
import { isTooLongToDrop } from '../request/body.ts';
import { matchesEtag } from '../request/conditions.ts';
import { type Answer, byteEncoding, type HeaderList, securityHeaders } from './answer.ts';

const usualSecurity = securityHeaders();

/** Sends an answer, or a 304 without its body if `If-None-Match` matches. Returns the status that was sent. */
export function sendAnswer(exchange: Exchange, answer: Answer, corsHeaders: HeaderList): number {
  const { request, response, id, decision, match } = exchange;
  const ifNoneMatch = request.headers['if-none-match'];
  const isKnown =
    ifNoneMatch !== undefined &&
    answer.etag !== null &&
    answer.status === 200 &&
    matchesEtag(ifNoneMatch, answer.etag);
  const status = isKnown ? 304 : answer.status;
  const headers = ['x-request-id', id].concat(
    decision?.headers ?? [],
    corsHeaders,
    match.route?.securityHeaders ?? usualSecurity,
    answer.headers,
    isKnown ? [] : answer.bodyHeaders,
  );
  response.writeHead(status, headers);
  const body = isKnown ? null : answer.body;
  if (answer.stream !== undefined) sendStream(exchange, answer.stream);
  else if (!response.shouldKeepAlive && isTooLongToDrop(request.headers)) sendEarly(exchange, body);
  else if (body === null) response.end();
  else response.end(body, byteEncoding);
  return status;
}

/** Sends a body of unknown length. If the client goes away, the stream is destroyed. */
function sendStream({ response }: Exchange, body: Readable): void {
  pipeline(body, response, () => undefined);
}

/** Sends a response whose client may still send. The end closes the connection, and a reset could overtake the response. */
function sendEarly({ request, response }: Exchange, body: Answer['body']): void {
  request.pause();
  if (body !== null) response.write(body, byteEncoding);
  response.flushHeaders();
  setTimeout(() => response.end(), lingerMs).unref();
}
