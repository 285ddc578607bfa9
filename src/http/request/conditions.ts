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

/** Runs a change with the entity tags of `If-Match`. If none matches and one is weak, the error says so. */
export async function changeIfMatch<T>(
  headers: IncomingHttpHeaders,
  change: (tags: readonly string[] | null) => Promise<T>,
): Promise<T> {
  try {
    return await change(readIfMatch(headers));
  } catch (error) {
    const isWeak = headers['if-match']?.match(eachTag)?.some((one) => one.startsWith('W/'));
    if (isWeak && error instanceof AppError && error.code === 'precondition_failed') throw weakTag;
    throw error;
  }
}

const weakTag = new AppError(
  'precondition_failed',
  'If-Match: a weak entity tag (W/"…") never matches; send the ETag as the service gave it',
);

/** The strong tags of `If-Match`; weak ones never match (RFC 9110, section 13.1.1). Null if absent or `*`: all match. */
function readIfMatch(headers: IncomingHttpHeaders): readonly string[] | null {
  const value = headers['if-match'];
  if (value === undefined || value.trim() === '*') return null;
  if (!tagList.test(value))
    throw new AppError('invalid_parameter', 'If-Match must be * or a list of entity tags in double quotes');
  return (value.match(eachTag) ?? []).filter((one) => !one.startsWith('W/'));
}
