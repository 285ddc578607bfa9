import assert from 'node:assert/strict';
import { connect, type TcpSocketConnectOpts } from 'node:net';
import { text } from 'node:stream/consumers';
import type { RawResponse } from '../../test/support/raw-http.ts';

const answerMsMax = 60_000;

/** Sends bytes (one per character) on a new connection, half-closes it, and returns all received bytes. */
export async function exchangeBytes(address: TcpSocketConnectOpts, bytes: string): Promise<string> {
  const socket = connect({ ...address, allowHalfOpen: true, noDelay: true });
  const impatience = setTimeout(() => socket.destroy(new Error('no answer arrived in time')), answerMsMax);
  try {
    socket.setEncoding('latin1');
    socket.end(bytes, 'latin1');
    return await text(socket);
  } finally {
    clearTimeout(impatience);
    socket.destroy();
  }
}

/**
 * Parses answers. Throws if one is incomplete, or if anything follows an answer that closes the connection. A mutation
 * may have changed the method of a request. So if the next answer follows a head directly, the answer has no body.
 */
export function parseAnswers(bytes: string): RawResponse[] {
  const answers: RawResponse[] = [];
  let rest = bytes;
  while (rest !== '') {
    const [head = '', statusText, lines = ''] = answerHead.exec(rest) ?? [];
    assert.notEqual(head, '', `no answer begins with ${JSON.stringify(rest.slice(0, 200))}`);
    rest = rest.slice(head.length);
    const status = Number(statusText);
    if (status < 200) continue;
    const headers = new Headers(lines.split('\r\n').slice(0, -1).map(splitHeader));
    const length = Number(headers.get('content-length'));
    const bodyLength = isAnswerOrEnd(rest) ? 0 : length;
    const body = Buffer.from(rest.slice(0, bodyLength), 'latin1').toString();
    rest = rest.slice(bodyLength);
    assert.ok(isAnswerOrEnd(rest), `an answer is followed by ${JSON.stringify(rest.slice(0, 200))}`);
    assert.ok(
      rest === '' || headers.get('connection') !== 'close',
      'an answer follows one that closes the connection',
    );
    answers.push({ status, headers, body });
  }
  return answers;
}

const answerHead = /^HTTP\/1\.1 (\d{3}) [^\r\n]*\r\n((?:[^\r\n]+\r\n)*)\r\n/;

const isAnswerOrEnd = (text: string) => text === '' || text.startsWith('HTTP/1.1 ');

function splitHeader(line: string): [string, string] {
  const place = line.indexOf(':');
  return [line.slice(0, place), line.slice(place + 1)];
}
