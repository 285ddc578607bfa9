import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../errors.ts';
import type { Limiter } from '../limits/limiter.ts';
import { limitError } from './arrival.ts';
import { errorBody, errorHeaders, errorStatus } from './error-handler.ts';
import type { RequestLog } from './request-log.ts';
import { settle } from './settle.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Why the rest of its body cannot be read, where that came out while its key was being looked up. */
    brokenBy: AppError | null;
  }
}

/** How long a connection stays open after its last answer, for the client to read it before the reset. */
const lingerMs = 1_000;

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
const noTunnel = new AppError('method_not_allowed', 'CONNECT is not known here');

export interface UnreadableOptions {
  readonly limiter: Limiter;
  readonly createRequestId: () => string;
  readonly log: RequestLog;
}

/**
 * Answers what is no readable HTTP as every other failure is answered: in the Error body, with the limit's headers,
 * counted by address as it bears no key that could be read.
 */
export function createUnreadableHandler({ limiter, createRequestId, log }: UnreadableOptions) {
  const latest = new WeakMap<Socket, FastifyReply>();
  const broken = new WeakSet<Socket>();

  function answerRaw(stream: Duplex, address: string, failure: AppError, extra: Record<string, string> = {}) {
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

  /** The body of a request that has been let in breaks off: it is counted already, and its own reply tells it. */
  function breakOff(reply: FastifyReply, failure: AppError, socket: Socket): void {
    reply.raw.shouldKeepAlive = false;
    if (reply.sent) onFinished(reply, () => socket.destroySoon());
    else if (reply.hasHeader('x-ratelimit-limit')) reply.send(failure);
    else reply.request.brokenBy = failure;
  }

  return {
    /** For the server's `clientError`: of one connection only the first counts, nothing after it can be read. */
    onError({ code = '' }: Error & { code?: string }, socket: Socket): void {
      if (broken.has(socket)) return;
      broken.add(socket);
      const known = parserErrors[code];
      const isUnreadable = known !== undefined || code.startsWith('HPE_');
      const reply = latest.get(socket);
      if (!isUnreadable || !socket.writable) socket.destroy();
      else if (reply?.request.raw.complete === false) breakOff(reply, known ?? badBody, socket);
      else onFinished(reply, () => answerRaw(socket, socket.remoteAddress ?? '', known ?? badHead));
    },

    /** For the server's `connect`: CONNECT asks for a tunnel, and there is none. Nobody else listens to its errors. */
    onConnect({ socket }: IncomingMessage, stream: Duplex): void {
      stream.on('error', () => stream.destroy());
      answerRaw(stream, socket.remoteAddress ?? '', noTunnel, { allow: 'GET, HEAD, POST' });
    },

    /** Notes whose turn it is on a connection; to run on each request. */
    note(request: FastifyRequest, reply: FastifyReply): void {
      latest.set(request.raw.socket, reply);
    },

    /** To run on each response: an idle connection must not hold its last request, with its body, in memory. */
    forget({ raw }: FastifyRequest, reply: FastifyReply): void {
      if (raw.complete && latest.get(raw.socket) === reply) latest.delete(raw.socket);
    },
  };
}

/** Acts once a reply, and with it all before it on its connection, is on its way. */
function onFinished(reply: FastifyReply | undefined, act: () => void): void {
  if (reply === undefined || reply.raw.writableFinished) act();
  else reply.raw.once('finish', act);
}

function writeResponse(stream: Duplex, failure: AppError, headers: Readonly<Record<string, string>>): void {
  const status = errorStatus[failure.code];
  const body = errorBody(failure);
  const all = {
    ...headers,
    ...errorHeaders(failure.code),
    'x-content-type-options': 'nosniff',
    date: new Date().toUTCString(),
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  stream.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
  setTimeout(() => stream.destroy(), lingerMs).unref();
}
