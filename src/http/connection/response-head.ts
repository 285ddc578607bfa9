import { IncomingMessage, ServerResponse, STATUS_CODES } from 'node:http';
import { Socket } from 'node:net';
import { type Clock, secondMs } from '../../clock.ts';
import { splitLines, toLines } from '../response/header-lines.ts';

/** Writes the head of a response: its status and its header lines, to which those of HTTP's framing are added. */
export type WriteHead = (response: ServerResponse, status: number, lines: string) => void;

/** Node's response, with its own field for a head that is written and not sent yet. */
type Headed = ServerResponse & { _header: string | null };

/**
 * `writeHead` checks every character of every header of every answer again: a sixth of all that a cached answer costs.
 * Our lines are checked when they are made, so the head goes into the field in which `writeHead` would leave it. If this
 * Node does not send what stands there, and for a connection that is to be closed, `writeHead` is used.
 */
export function createHeadWriter(keepAliveMs: number, clock: Clock = Date.now): WriteHead {
  const sendsPreparedHeads = trySendingPreparedHead();
  const keepAlive =
    keepAliveMs === 0 ? {} : { 'keep-alive': `timeout=${Math.floor(keepAliveMs / secondMs)}` };
  const fixedLines = toLines({ connection: 'keep-alive', ...keepAlive });
  let lastLines = '';
  let lastSecond = 0;

  /** The lines that are the same in every answer of a second. */
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

/** Whether this Node sends a head that stands in its response, and the body behind it. */
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
