import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { AppError } from '../../errors.ts';
import type { Soon } from '../../soon.ts';
import type { Answer } from '../response/answer.ts';
import { toLines } from '../response/header-lines.ts';
import type { AnswerBatch } from './answer-batch.ts';
import type { InFlight } from './in-flight.ts';

/** How long a connection stays open after its last answer, so that the client can read it before the reset. */
export const lingerMs = 1_000;
/** How many more bytes may arrive in that time. They are read and ignored. */
export const lingerBytesMax = 2 ** 20;

/** Errors of Node's parser for requests that are valid HTTP but exceed a bound. */
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
 * The error of Node's parser for bytes after the last request of a connection (RFC 9112, section 9.6). Node closes the
 * connection once the answer to that request is sent.
 */
const afterLast = 'HPE_CLOSED_CONNECTION';

/** The answer to an unreadable request, with the headers of every answer. */
export interface MalformedAnswer {
  readonly answer: Answer;
  /** The header lines that are not in `answer`. */
  readonly lines: string;
}

export interface MalformedOptions {
  readonly inFlight: InFlight;
  readonly batch: AnswerBatch;
  /** The methods that the server supports. */
  readonly methods: readonly string[];
  /** Counts the request by its address and makes its answer. `lines` are extra header lines of the failure. */
  makeAnswer(failure: AppError, address: string, lines: string): Soon<MalformedAnswer>;
}

/** Answers requests that are not readable HTTP with the usual error body, and closes the connection. */
export function answerMalformed(server: Server, options: MalformedOptions): void {
  const { inFlight, batch, makeAnswer } = options;
  const allow = options.methods.join(', ');
  const noTunnel = new AppError('method_not_allowed', `CONNECT is not allowed here; allowed: ${allow}`);
  /** How many bytes a connection had read when its first error happened. */
  const broken = new WeakMap<Socket, number>();

  async function answer(stream: Duplex, address: string, failure: AppError, lines = ''): Promise<void> {
    // The previous answer was the last of its connection.
    if (!stream.writable) return;
    try {
      const made = await makeAnswer(failure, address, lines);
      writeAnswer(stream, made);
    } catch {
      stream.destroy();
    }
  }

  /** Only the first error of a connection counts, because nothing after it can be read. */
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

  /** CONNECT asks for a tunnel, which this server does not offer. Nothing else handles the errors of its stream. */
  server.on('connect', ({ socket }: IncomingMessage, stream: Duplex) => {
    stream.on('error', () => stream.destroy());
    batch.flush();
    if (inFlight.isClosing(socket)) return;
    whenSent(inFlight.find(socket)?.response, () =>
      answer(stream, socket.remoteAddress ?? '', noTunnel, toLines({ allow })),
    );
  });
}

/** Acts once a response and all responses before it on its connection are sent. */
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
