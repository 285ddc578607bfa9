import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '../../errors.ts';

/** True if an `If-None-Match` header matches `etag` by weak comparison (RFC 9110, section 13.1.2). */
export function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === etag || ifNoneMatch.trim() === '*') return true;
  return ifNoneMatch.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === etag);
}

const opaque = String.raw`"[!#-~\x80-\xff]*"`;
const tag = String.raw`(?:W\/)?${opaque}`;
/** Matches a list with at least one entity tag. List elements may be empty (RFC 9110, section 5.6.1). */
const tagList = new RegExp(`^[ \\t,]*${tag}(?:[ \\t]*,(?:[ \\t]*${tag})?)*[ \\t]*$`);
const eachTag = new RegExp(tag, 'g');

/**
 * Returns the strong entity tags of `If-Match`. Weak tags are left out, because they never match (RFC 9110, section
 * 13.1.1). Returns null if any version matches: the header is absent or `*`. Throws `invalid_parameter` if the header
 * is malformed.
 */
export function readIfMatch(headers: IncomingHttpHeaders): readonly string[] | null {
  const value = headers['if-match'];
  if (value === undefined || value.trim() === '*') return null;
  if (!tagList.test(value))
    throw new AppError('invalid_parameter', 'If-Match must be * or a list of entity tags in double quotes');
  return (value.match(eachTag) ?? []).filter((one) => !one.startsWith('W/'));
}
