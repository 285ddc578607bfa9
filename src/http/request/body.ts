import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '../../errors.ts';
import { parseExactJson } from '../../exact-json.ts';
import { lingerBytesMax } from '../connection/bounds.ts';

/** Maximum size of a request body in bytes (contract section 2). */
export const bodyBytesMax = 64 * 1024;

export const jsonTypes = {
  plain: ['application/json'],
  mergePatch: ['application/merge-patch+json', 'application/json'],
} as const;

const withoutParameters = /^([^ \t;]*)[ \t]*(?:;|$)/;
const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i;
const utf8 = /^(?:utf-8|utf8|us-ascii)$/i;

/** Throws `unsupported_media_type`. A request without a body needs no `Content-Type`. */
export function checkJsonType(headers: IncomingHttpHeaders, types: readonly string[]): void {
  const type = headers['content-type'];
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw new AppError('unsupported_media_type', 'Content-Encoding: the body must not be compressed');
  if (type !== undefined && types.includes(type)) return;
  if (type === undefined && !hasBody(headers)) return;
  if (type === undefined || !types.includes(withoutParameters.exec(type)?.[1]?.toLowerCase() ?? ''))
    throw new AppError('unsupported_media_type', `Content-Type: the body must be ${types.join(' or ')}`);
  if (!utf8.test(charset.exec(type)?.[1] ?? 'utf-8'))
    throw new AppError('unsupported_media_type', 'Content-Type: the charset must be utf-8');
}

export function hasBody(headers: IncomingHttpHeaders): boolean {
  return Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined;
}

/** True if a connection cannot continue after the response, because the unread body is too long to be dropped. */
export function isTooLongToDrop(headers: IncomingHttpHeaders): boolean {
  return Number(headers['content-length'] ?? 0) > lingerBytesMax;
}

const byteOrderMark = Buffer.from('\ufeff');

/** Parses a JSON body. Integers become bigints. Throws `invalid_body`. */
export function parseJsonBody(bytes: Buffer): unknown {
  if (bytes.length === 0) throw new AppError('invalid_body', 'the body is missing: it must be a JSON object');
  if (bytes.subarray(0, byteOrderMark.length).equals(byteOrderMark))
    throw new AppError('invalid_body', 'the body begins with a byte order mark, which JSON must not have');
  if (!isUtf8(bytes)) throw new AppError('invalid_body', 'the body is not valid UTF-8');
  try {
    return parseExactJson(bytes.toString('utf8'));
  } catch (error) {
    if (error instanceof RangeError) throw new AppError('invalid_body', `the body ${error.message}`);
    throw new AppError('invalid_body', 'the body is not valid JSON');
  }
}
