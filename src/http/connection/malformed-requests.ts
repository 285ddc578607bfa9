import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { AppError } from '../../errors.ts';
import type { Soon } from '../../soon.ts';
import type { Answer } from '../response/answer.ts';
import { toLines } from '../response/header-lines.ts';
import type { AnswerBatch } from './answer-batch.ts';
import type { InFlight } from './in-flight.ts';

/**
 * Milliseconds for which a connection stays open after its last response. An immediate close could reset the connection
 * before the client has read the response.
 */
export const lingerMs = 1_000;
/** Maximum number of bytes that are read and ignored after the first error of a connection. */
export const lingerBytesMax = 2 ** 20;

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
/**
 * Code of Node's parser for bytes after the last request of a connection (RFC 9112, section 9.6). These bytes get no
 * response, because Node closes the connection after the response to the last request.
 */
const afterLast = 'HPE_CLOSED_CONNECTION';

/** The response to a request that is not valid HTTP. */
export interface MalformedAnswer {
  readonly answer: Answer;
  /** The header lines that every response has. They are not in `answer`. */
  readonly lines: string;
}

export interface MalformedOptions {
  readonly inFlight: InFlight;
  readonly batch: AnswerBatch;
  /** The methods that the server supports. */
  readonly methods: readonly string[];
  /**
   * Counts the request against its address and makes its response. `lines` are header lines that only this failure has.
   */
  makeAnswer(failure: AppError, address: string, lines: string): Soon<MalformedAnswer>;
}

/** Answers requests that are not valid HTTP with an Error body, and closes their connections. */
export function answerMalformed(server: Server, options: MalformedOptions): void {
  const { inFlight, batch, makeAnswer } = options;
  const allow = options.methods.join(', ');
  const noTunnel = new AppError('method_not_allowed', `CONNECT is not allowed here; allowed: ${allow}`);
  /** Number of bytes that a connection had received when its first error occurred. */
  const broken = new WeakMap<Socket, number>();

  async function answer(stream: Duplex, address: string, failure: AppError, lines = ''): Promise<void> {
    // If the stream is not writable, the previous response was the last one of the connection.
    if (!stream.writable) return;
    try {
      const made = await makeAnswer(failure, address, lines);
      writeAnswer(stream, made);
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
    batch.flush();
    if (code === afterLast || inFlight.isClosing(socket)) return;
    const known = parserErrors[code];
    const pending = inFlight.find(socket);
    const isUnreadable = known !== undefined || code.startsWith('HPE_');
    if (!isUnreadable || !socket.writable) socket.destroy();
    else if (pending?.response.req.complete === false) pending.breakOff(known ?? badBody);
    else whenSent(pending?.response, () => answer(socket, socket.remoteAddress ?? '', known ?? badHead));
  });

  /**
   * CONNECT asks for a tunnel, which this server does not offer. The stream of a CONNECT request has no other error
   * handler.
   */
  server.on('connect', ({ socket }: IncomingMessage, stream: Duplex) => {
    stream.on('error', () => stream.destroy());
    batch.flush();
    if (inFlight.isClosing(socket)) return;
    whenSent(inFlight.find(socket)?.response, () =>
      answer(stream, socket.remoteAddress ?? '', noTunnel, toLines({ allow })),
    );
  });
}

/** Calls `act` once the response and all earlier responses of its connection are sent. */
function whenSent(response: ServerResponse | undefined, act: () => void): void {
  if (response === undefined || response.writableFinished) act();
  else response.once('finish', act);
}

function writeAnswer(stream: Duplex, { answer, lines }: MalformedAnswer): void {
  const { status, bodyLines, body } = answer;
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines}${answer.lines}${bodyLines}`;
  stream.end(`${head}date: ${new Date().toUTCString()}\r\nconnection: close\r\n\r\n${body ?? ''}`);
  setTimeout(() => stream.destroy(), lingerMs).unref();
}
