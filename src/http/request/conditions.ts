import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '../../errors.ts';

/** Whether an `If-None-Match` matches a validator by weak comparison (RFC 9110, section 13.1.2). */
export function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === etag || ifNoneMatch.trim() === '*') return true;
  return ifNoneMatch.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === etag);
}

const opaque = String.raw`"[!#-~\x80-\xff]*"`;
const tag = String.raw`(?:W\/)?${opaque}`;
/** Matches a list with at least one tag. List members may be empty (RFC 9110, section 5.6.1). */
const tagList = new RegExp(`^[ \\t,]*${tag}(?:[ \\t]*,(?:[ \\t]*${tag})?)*[ \\t]*$`);
const eachTag = new RegExp(tag, 'g');

/**
 * The strong validators of an `If-Match`. Weak ones never match (RFC 9110, section 13.1.1). Null for `*` and without
 * the header: any version matches. Throws `invalid_parameter`.
 */
export function readIfMatch(headers: IncomingHttpHeaders): readonly string[] | null {
  const value = headers['if-match'];
  if (value === undefined || value.trim() === '*') return null;
  if (!tagList.test(value))
    throw new AppError('invalid_parameter', 'If-Match must be * or a list of entity tags in double quotes');
  return (value.match(eachTag) ?? []).filter((one) => !one.startsWith('W/'));
}
