import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { AppError } from '../errors.ts';
import type { Limiter } from '../limits/limiter.ts';
import { settle } from '../soon.ts';
import { limitError } from './arrival.ts';
import { errorBody, errorHeaders, errorStatus } from './error-handler.ts';
import type { Outbox } from './outbox.ts';
import type { RequestLog } from './request-log.ts';
import { securityHeaders } from './security-headers.ts';
import type { Turn, Turns } from './turns.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Why the rest of its body cannot be read, where that came out while its key was being looked up. */
    brokenBy: AppError | null;
  }
}

/** How long a connection stays open after its last answer, for the client to read it before the reset. */
export const lingerMs = 1_000;
/** How much more may come meanwhile, in bytes: what is read of it is of no use, and each reading takes 30 us. */
export const lingerBytesMax = 2 ** 20;

/** What Node's parser may say of an unreadable request besides that it is no HTTP. */
const parserErrors: Readonly<Record<string, AppError>> = {
  ERR_HTTP_REQUEST_TIMEOUT: new AppError('request_timeout', 'the request did not arrive in time'),
  HPE_HEADER_OVERFLOW: new AppError('headers_too_large', 'the head of the request is too large'),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: new AppError(
    'payload_too_large',
    'the chunk extensions of the body are too large',
  ),
};
const badHead = new AppError('invalid_parameter', 'the head of the request is no valid HTTP/1.1');
const badBody = new AppError('invalid_body', 'the body does not arrive as the head of the request says');
/**
 * What Node's parser says of all that comes behind a request whose answer is the last of its connection (RFC 9112,
 * section 9.6): Node closes that once the answer has been sent.
 */
const afterLast = 'HPE_CLOSED_CONNECTION';
const noTunnel = new AppError('method_not_allowed', 'CONNECT is not known here');

export interface UnreadableOptions {
  readonly limiter: Limiter;
  readonly turns: Turns;
  readonly outbox: Outbox;
  readonly createRequestId: () => string;
  readonly log: RequestLog;
}

/**
 * Answers what is no readable HTTP as every other failure is answered: in the Error body, with the limit's headers,
 * counted by address as it bears no key that could be read.
 */
export function createUnreadableHandler(options: UnreadableOptions) {
  const { limiter, turns, outbox, createRequestId, log } = options;
  /** What had been read of a connection when something on it could not be. */
  const broken = new WeakMap<Socket, number>();
  const failures = new WeakMap<ServerResponse, AppError>();

  function answerRaw(stream: Duplex, address: string, failure: AppError, extra: Record<string, string> = {}) {
    // The answer before it was the last of its connection.
    if (!stream.writable) return;
    settle(
      limiter.takeForAddress(address),
      ({ code, retryAfterSeconds, headers }) => {
        const shown = code === null ? failure : limitError(code, retryAfterSeconds);
        const requestId = createRequestId();
        writeResponse(stream, shown, { 'x-request-id': requestId, ...headers, ...extra });
        log.noteUnreadable({ requestId, status: errorStatus[shown.code], address });
      },
      () => stream.destroy(),
    );
  }

  /** The body of a request breaks off: its own reply tells it, once it has been counted. */
  function breakOff({ response, reply }: Turn, failure: AppError, socket: Socket): void {
    response.shouldKeepAlive = false;
    if (reply === null) failures.set(response, failure);
    else if (reply.sent) onFinished(reply.raw, () => socket.destroySoon());
    else if (reply.hasHeader('x-ratelimit-limit')) reply.send(failure);
    else reply.request.brokenBy = failure;
  }

  return {
    /** For the server's `clientError`: of one connection only the first counts, nothing after it can be read. */
    onError({ code = '' }: Error & { code?: string }, socket: Socket): void {
      const readBefore = broken.get(socket);
      if (readBefore !== undefined) {
        if (socket.bytesRead > readBefore + lingerBytesMax) socket.destroy();
        return;
      }
      broken.set(socket, socket.bytesRead);
      outbox.flush();
      if (code === afterLast) return;
      const known = parserErrors[code];
      const isUnreadable = known !== undefined || code.startsWith('HPE_');
      const turn = turns.find(socket);
      if (!isUnreadable || !socket.writable) socket.destroy();
      else if (turn?.response.req.complete === false) breakOff(turn, known ?? badBody, socket);
      else onFinished(turn?.response, () => answerRaw(socket, socket.remoteAddress ?? '', known ?? badHead));
    },

    /** Why the rest of a request's body cannot be read, where that came out before it came to the framework. */
    findFailure: (response: ServerResponse): AppError | null => failures.get(response) ?? null,

    /** For the server's `connect`: CONNECT asks for a tunnel, and there is none. Nobody else listens to its errors. */
    onConnect({ socket }: IncomingMessage, stream: Duplex): void {
      stream.on('error', () => stream.destroy());
      outbox.flush();
      const answer = () =>
        answerRaw(stream, socket.remoteAddress ?? '', noTunnel, { allow: 'GET, HEAD, POST' });
      onFinished(turns.find(socket)?.response, answer);
    },
  };
}

/** Acts once a response, and with it all before it on its connection, is on its way. */
function onFinished(response: ServerResponse | undefined, act: () => void): void {
  if (response === undefined || response.writableFinished) act();
  else response.once('finish', act);
}

function writeResponse(stream: Duplex, failure: AppError, headers: Readonly<Record<string, string>>): void {
  const status = errorStatus[failure.code];
  const body = errorBody(failure);
  const all = {
    ...headers,
    ...errorHeaders(failure.code),
    ...securityHeaders,
    date: new Date().toUTCString(),
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  stream.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
  setTimeout(() => stream.destroy(), lingerMs).unref();
}
