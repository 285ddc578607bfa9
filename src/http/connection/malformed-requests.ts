import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { AppError } from '../../errors.ts';
import type { Pipeline } from '../pipeline.ts';
import { type Answer, byteEncoding, type HeaderList } from '../response/answer.ts';
import { lingerBytesMax, lingerMs } from './bounds.ts';
import type { Connections } from './connections.ts';

/** Codes of Node's parser for requests that are valid HTTP but exceed a bound. */
const parserErrors: Readonly<Record<string, AppError>> = {
  ERR_HTTP_REQUEST_TIMEOUT: new AppError('request_timeout', 'the request did not arrive in time'),
  HPE_HEADER_OVERFLOW: new AppError('headers_too_large', 'the head of the request is too large'),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: new AppError(
    'payload_too_large',
    'the chunk extensions of the body are too large',
  ),
};
const badHead = new AppError('invalid_parameter', 'the head of the request is not valid HTTP/1.1');
const badBody = new AppError('invalid_body', 'the body does not match the headers of the request');

/** Makes the response to a request that is not valid HTTP, with `own` headers. It counts for its address. */
export type MakeMalformedAnswer = (failure: AppError, address: string, own: HeaderList) => Promise<Answer>;

interface MalformedOptions extends Pick<Pipeline, 'breakOff'> {
  readonly connections: Connections;
  readonly methods: readonly string[];
  readonly makeAnswer: MakeMalformedAnswer;
  /** Time after which a connection with unreadable bytes is closed even if its client has not read a response. */
  readonly untakenMs: number;
}

/** Answers requests that are not valid HTTP with an Error body, and closes their connections. */
export function answerMalformed(server: Server, options: MalformedOptions): void {
  const { connections, breakOff, makeAnswer } = options;
  const allow = options.methods.join(', ');
  const noTunnel = new AppError('method_not_allowed', `CONNECT is not allowed here; allowed: ${allow}`);
  /** Number of bytes that a connection had received when its first error occurred. */
  const broken = new WeakMap<Socket, number>();

  async function answer(stream: Duplex, { remoteAddress = '' }: Socket, failure: AppError, own: HeaderList) {
    // If the stream is not writable, the previous response was the last one of the connection.
    if (!stream.writable) return;
    try {
      writeAnswer(stream, await makeAnswer(failure, remoteAddress, own));
    } catch {
      stream.destroy();
    }
  }

  /** Only the first error of a connection gets a response, because the bytes after an error cannot be parsed. */
  server.on('clientError', ({ code = '' }: NodeJS.ErrnoException, stream) => {
    const socket = stream as Socket;
    const readBefore = broken.get(socket);
    if (readBefore !== undefined) {
      if (socket.bytesRead > readBefore + lingerBytesMax) socket.destroy();
      return;
    }
    broken.set(socket, socket.bytesRead);
    const known = parserErrors[code];
    const unread = connections.findUnread(socket);
    if (known === undefined && !code.startsWith('HPE_')) socket.destroy();
    else if (unread !== null) breakOff(unread, known ?? badBody);
    else {
      if (connections.isBusy(socket)) closeLater(socket, options.untakenMs);
      connections.afterAll(socket, () => answer(socket, socket, known ?? badHead, []));
    }
  });

  /** CONNECT asks for a tunnel, which this server does not offer. Its stream has no other error handler. */
  server.on('connect', ({ socket }: IncomingMessage, stream: Duplex) => {
    stream.on('error', () => stream.destroy());
    connections.afterAll(socket, () => answer(stream, socket, noTunnel, ['allow', allow]));
  });
}

/** Closes a connection after `ms`. Otherwise a client that reads nothing could keep it open by further bytes. */
function closeLater(socket: Socket, ms: number): void {
  const timer = setTimeout(() => socket.destroy(), ms).unref();
  socket.once('close', () => clearTimeout(timer));
}

function writeAnswer(stream: Duplex, { status, headers, bodyHeaders, body }: Answer): void {
  const fixed = ['date', new Date().toUTCString(), 'connection', 'close'];
  const all = [...headers, ...bodyHeaders, ...fixed];
  const lines = all.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`));
  stream.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body ?? ''}`,
    byteEncoding,
  );
  setTimeout(() => stream.destroy(), lingerMs).unref();
}
