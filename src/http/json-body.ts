import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../errors.ts';
import { parseExactJson } from '../exact-json.ts';

/** The most that a request body may hold (contract section 2). */
export const bodyBytesMax = 64 * 1024;

declare module 'fastify' {
  interface FastifyRequest {
    /** The body as it was sent, where there was one. */
    bodyBytes: Buffer | null;
  }
}

/** Takes bodies of `application/json` in UTF-8, uncompressed, and no others; integers come out as exact bigints. */
export function acceptJson(server: FastifyInstance): void {
  server.decorateRequest('bodyBytes', null);
  server.removeAllContentTypeParsers();
  // Where a request has no body its stream has ended before anyone could hear of it (http-server.ts).
  server.addHook('preParsing', ({ headers }, _reply, payload, done) => {
    done(null, isTypeAlone(headers) ? Readable.from([]) : payload);
  });
  server.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer', bodyLimit: bodyBytesMax },
    (request: FastifyRequest, bytes: Buffer, done: (error: Error | null, body?: unknown) => void) => {
      try {
        request.bodyBytes = bytes;
        done(null, parseBody(request.headers, bytes));
      } catch (error) {
        done(error as Error);
      }
    },
  );
}

/** Whether a request says of which type its body is, and has none: else the framework asks for no body. */
function isTypeAlone(headers: IncomingHttpHeaders): boolean {
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  return headers['content-type'] !== undefined && !hasBody;
}

/** Reads a body by what its headers say of it; throws `unsupported_media_type` or `invalid_body`. */
export function parseBody(headers: IncomingHttpHeaders, bytes: Buffer): unknown {
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw new AppError('unsupported_media_type', 'Content-Encoding: the body must not be compressed');
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(headers['content-type'] ?? '')?.[1];
  if (charset !== undefined && !/^(?:utf-8|utf8|us-ascii)$/i.test(charset))
    throw new AppError('unsupported_media_type', 'Content-Type: the charset must be utf-8');
  return parsePlainBody(bytes);
}

/** Reads a body whose headers say no more of it than `application/json`; throws `invalid_body`. */
export function parsePlainBody(bytes: Buffer): unknown {
  if (bytes.length === 0) throw new AppError('invalid_body', 'the body is missing: it must be a JSON object');
  if (!isUtf8(bytes)) throw new AppError('invalid_body', 'the body is not valid UTF-8');
  try {
    return parseExactJson(bytes.toString('utf8'));
  } catch (error) {
    if (error instanceof RangeError)
      throw new AppError('invalid_body', `the body is nested too deeply: ${error.message}`);
    throw new AppError('invalid_body', 'the body is not valid JSON');
  }
}
