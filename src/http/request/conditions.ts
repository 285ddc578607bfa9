import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '../../errors.ts';

/** Whether an `If-None-Match` names a validator, by weak comparison (RFC 9110, section 13.1.2). */
export function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === etag || ifNoneMatch.trim() === '*') return true;
  return ifNoneMatch.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === etag);
}

const opaque = String.raw`"[!#-~\x80-\xff]*"`;
const tag = String.raw`(?:W\/)?${opaque}`;
/** A list with at least one tag; its members may be empty (RFC 9110, section 5.6.1). */
const tagList = new RegExp(`^[ \\t,]*${tag}(?:[ \\t]*,(?:[ \\t]*${tag})?)*[ \\t]*$`);
const eachTag = new RegExp(tag, 'g');

/**
 * The validators of an `If-Match` that can match by strong comparison (RFC 9110, section 13.1.1): weak ones never do. Null
 * for `*` and without the header: whatever is there matches. Throws `invalid_parameter`.
 */
export function readIfMatch(headers: IncomingHttpHeaders): readonly string[] | null {
  const value = headers['if-match'];
  if (value === undefined || value.trim() === '*') return null;
  if (!tagList.test(value))
    throw new AppError('invalid_parameter', 'If-Match must be * or a list of entity tags in double quotes');
  return (value.match(eachTag) ?? []).filter((one) => !one.startsWith('W/'));
}
