import { connect, type Socket } from 'node:net';
import { createAnswerScanner } from './answer-scanner.ts';
import type { toAddress } from './sockets.ts';
import type { Tally } from './tally.ts';

/** What the connections of a crowd share. */
export interface Asking {
  readonly address: ReturnType<typeof toAddress>;
  readonly tally: Tally;
  nextText(): string;
  /** True if nobody asks any more, and connections may close. */
  isOver(): boolean;
}

/** All connections read into one buffer, because the bytes are scanned at once. */
const buffer = Buffer.allocUnsafe(65_536);

/**
 * Opens a connection that sends a request, waits for its answer and sends the next one, until an answer closes it.
 *
 * A request without an answer is lost if the server has read it. The system tells: if a server closes a connection with
 * bytes that it has not read, or bytes arrive after it has closed, the client gets a reset. Otherwise it gets an end.
 */
export function openAsker({ address, tally, nextText, isOver }: Asking): Socket {
  const number = tally.addConnection();
  let isWaiting = false;
  let wasReset = false;
  let sentMs = 0;

  const send = () => {
    isWaiting = true;
    sentMs = performance.now();
    socket.write(nextText(), 'latin1');
  };
  const scanner = createAnswerScanner(({ status, isLast }) => {
    isWaiting = false;
    tally.noteAnswer(number, status, performance.now() - sentMs);
    if (!isLast && !isOver()) send();
  });
  const read = (bytes: number) => {
    scanner.read(buffer.subarray(0, bytes));
    return true;
  };

  const socket = connect({ ...address, noDelay: true, onread: { buffer, callback: read } });
  socket.once('connect', send);
  socket.on('error', () => {
    wasReset = true;
  });
  socket.once('close', () => {
    if (isWaiting && !isOver()) tally.noteUnanswered(wasReset && !scanner.isWithin());
  });
  return socket;
}
