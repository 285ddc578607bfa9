import { type ServerResponse, validateHeaderName, validateHeaderValue } from 'node:http';
import { type Clock, secondMs } from '../clock.ts';
import type { LimitHeaders } from '../limits/rules/decision.ts';
import { securityHeaders } from './security-headers.ts';

export type HeaderTexts = Readonly<Record<string, string>>;

/** Node's response, with its own field for a head that is written and not sent yet. */
type Headed = ServerResponse & { _header: string | null };

const statusLines = { 200: 'HTTP/1.1 200 OK\r\n', 201: 'HTTP/1.1 201 Created\r\n' } as const;

/** An answer of the fast lane. No header may come twice. */
export interface LaneAnswer {
  readonly status: keyof typeof statusLines;
  readonly requestId: string;
  /** Digits, and what is in a plan; of a request that passed. */
  readonly limit: LimitHeaders;
  /** Its own headers (toLines). */
  readonly lines: string;
  readonly body: string;
}

/** HeaderTexts as they are sent, a line each. Throws TypeError where Node would send none of the kind (RFC 9110, section 5). */
export function toLines(headers: HeaderTexts): string {
  for (const name in headers) {
    validateHeaderName(name);
    validateHeaderValue(name, headers[name] as string);
  }
  let lines = '';
  for (const name in headers) lines += `${name}: ${headers[name]}\r\n`;
  return lines;
}

/** The headers that lines were made of. */
export function fromLines(lines: string): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const line of lines.split('\r\n').slice(0, -1)) {
    const nameEnd = line.indexOf(': ');
    headers[line.slice(0, nameEnd)] = line.slice(nameEnd + 2);
  }
  return headers;
}

/** By name: to go through what the object holds would cost three times as much in each answer. */
function writeLimit(limit: LimitHeaders): string {
  return (
    `x-ratelimit-limit: ${limit['x-ratelimit-limit']}\r\n` +
    `x-ratelimit-remaining: ${limit['x-ratelimit-remaining']}\r\n` +
    `x-ratelimit-reset: ${limit['x-ratelimit-reset']}\r\n` +
    `ratelimit-policy: ${limit['ratelimit-policy']}\r\n` +
    `ratelimit: ${limit.ratelimit}\r\n`
  );
}

/**
 * Whether an answer may be sent by what follows: on a connection that is kept open, by a Node whose responses hold
 * their head where all so far have held it.
 */
export function takesHead(response: ServerResponse): boolean {
  return (response as Headed)._header === null && response.shouldKeepAlive;
}

/**
 * Sends answers with the head that `writeHead` would give them, without its work. It checks each name and value of
 * each answer anew, which is a third of all that the program does for a page that is ready; here they are checked where
 * they are made, once, and what is new in each answer is our own digits. `takesHead` must hold of the response, which
 * `end` is to end, now or later.
 */
export function createSender(
  keepAliveMs: number,
  end: (response: ServerResponse, body: string) => void,
  clock: Clock = Date.now,
): (response: ServerResponse, answer: LaneAnswer) => void {
  const fixedLines = toLines({ ...securityHeaders, Connection: 'keep-alive', ...describeKept(keepAliveMs) });
  let commonLines = '';
  let commonSecond = 0;

  /** The end of the head, which is the same in every answer of a second. */
  function writeCommonLines(): string {
    const second = Math.trunc(clock() / secondMs);
    if (second !== commonSecond) {
      commonLines = inOnePiece(`${fixedLines}Date: ${new Date(second * secondMs).toUTCString()}\r\n\r\n`);
      commonSecond = second;
    }
    return commonLines;
  }

  return function send(response, { status, requestId, limit, lines, body }) {
    const ownLines = `x-request-id: ${requestId}\r\n${writeLimit(limit)}${lines}`;
    response.statusCode = status;
    (response as Headed)._header = `${statusLines[status]}${ownLines}${writeCommonLines()}`;
    end(response, body);
  };
}

/** A text that is put together of others is a tree of them, which is walked each time that it is sent. */
export function inOnePiece(text: string): string {
  return Buffer.from(text).toString();
}

/** How long a connection is kept, as Node says it. */
function describeKept(keepAliveMs: number): HeaderTexts {
  return keepAliveMs === 0 ? {} : { 'Keep-Alive': `timeout=${Math.floor(keepAliveMs / secondMs)}` };
}
