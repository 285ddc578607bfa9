import { IncomingMessage, ServerResponse, STATUS_CODES } from 'node:http';
import { Socket } from 'node:net';
import { type Clock, secondMs } from '../../clock.ts';
import { splitLines, toLines } from '../response/header-lines.ts';

/** Writes the head of a response: its status, the given header lines, and the headers of HTTP's framing. */
export type WriteHead = (response: ServerResponse, status: number, lines: string) => void;

/** Node's response with its internal field for a head that is not sent yet. */
type Headed = ServerResponse & { _header: string | null };

/**
 * Creates a writer of response heads that avoids `writeHead`, which checks every character of every header again. That
 * check is a sixth of the cost of a cached answer. Our lines are checked when they are made, so they go directly into
 * the field that `writeHead` sets.
 *
 * The writer uses `writeHead` if this Node does not send that field, and for a connection that will be closed.
 */
export function createHeadWriter(keepAliveMs: number, clock: Clock = Date.now): WriteHead {
  const sendsPreparedHeads = trySendingPreparedHead();
  const keepAlive =
    keepAliveMs === 0 ? {} : { 'keep-alive': `timeout=${Math.floor(keepAliveMs / secondMs)}` };
  const fixedLines = toLines({ connection: 'keep-alive', ...keepAlive });
  let lastLines = '';
  let lastSecond = 0;

  /** The header lines that all answers of a second share. */
  function framingLines(): string {
    const second = Math.trunc(clock() / secondMs);
    if (second !== lastSecond) {
      const date = `date: ${new Date(second * secondMs).toUTCString()}\r\n`;
      lastLines = Buffer.from(`${fixedLines}${date}\r\n`).toString();
      lastSecond = second;
    }
    return lastLines;
  }

  return (response, status, lines) => {
    if (sendsPreparedHeads && response.shouldKeepAlive && response.req.httpVersionMinor === 1) {
      response.statusCode = status;
      (response as Headed)._header = `${statusLineOf(status)}${lines}${framingLines()}`;
    } else response.writeHead(status, splitLines(lines));
  };
}

const statusLines = new Map<number, string>();

function statusLineOf(status: number): string {
  const known = statusLines.get(status);
  if (known !== undefined) return known;
  const line = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
  statusLines.set(status, line);
  return line;
}

/** Whether this Node sends a head from the internal field, followed by the body. */
export function trySendingPreparedHead(): boolean {
  const sent: string[] = [];
  const socket = new Socket();
  socket.write = (chunk: unknown) => sent.push(String(chunk)) > 0;
  try {
    const response = new ServerResponse(new IncomingMessage(socket)) as Headed;
    if (response._header !== null) return false;
    response.assignSocket(socket);
    response._header = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n';
    response.end('{}');
    return sent.join('') === 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}';
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
