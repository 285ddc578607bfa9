import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';

const etagLength = 22;

/** A strong validator of a body (RFC 9110, section 8.8.3): 132 bits of its SHA-256. */
function computeEtag(body: Uint8Array): string {
  return `"${hash('sha256', body, 'base64url').slice(0, etagLength)}"`;
}

/** Whether an `If-None-Match` names a validator, by weak comparison (RFC 9110, section 13.1.2). */
export function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch.trim() === '*') return true;
  return ifNoneMatch.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === etag);
}

/** What a 200 says: its JSON body, and all headers that do not change from one request to the next. */
export interface Answer {
  readonly body: string;
  /** `etag` is among them. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * A text as a body, with its length and its validator. A serialiser's text is a tree of its pieces, which would be
 * walked anew each time that it is sent: read back from its bytes it is one piece.
 */
export function describeBody(text: string) {
  const bytes = Buffer.from(text);
  return { body: bytes.toString(), lengthBytes: bytes.length, etag: computeEtag(bytes) };
}

/** Makes an answer of a JSON text. */
export function makeAnswer(text: string): Answer {
  const { body, lengthBytes, etag } = describeBody(text);
  return { headers: { ...jsonHeaders, etag, 'content-length': String(lengthBytes) }, body };
}

/** Sends an answer with its validator, or 304 where the client has it already. */
export function sendAnswer(request: FastifyRequest, reply: FastifyReply, answer: Answer): FastifyReply {
  reply.headers(answer.headers);
  const ifNoneMatch = request.headers['if-none-match'];
  const isKnown = ifNoneMatch !== undefined && matchesEtag(ifNoneMatch, answer.headers['etag'] ?? '');
  if (!isKnown) return reply.send(answer.body);
  reply.code(304).removeHeader('content-type');
  if (request.method !== 'HEAD') return reply.removeHeader('content-length').send();
  // The length of a 304 may only be that of the 200 (RFC 9110, section 8.6). The framework measures all that a HEAD
  // would send, and gives it a type: all but a stream.
  return reply.send(Readable.from([]));
}

export const jsonType = 'application/json; charset=utf-8';
/** What every answer with a validator says of its body: who has it may keep it, and asks whether it still holds. */
export const jsonHeaders = { 'cache-control': 'private, no-cache', 'content-type': jsonType };
