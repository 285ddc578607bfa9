import type { LimitHeaders } from '../../limits/rules/decision.ts';
import type { AnswerBatch } from '../connection/answer-batch.ts';
import type { WriteHead } from '../connection/response-head.ts';
import type { Exchange } from '../exchange.ts';
import { matchesEtag } from '../request/conditions.ts';
import type { Answer } from './answer.ts';
import { securityLines } from './security-headers.ts';

/**
 * Sends an answer with `corsLines` and the headers that every response has. If `If-None-Match` matches, sends a 304
 * without the body. Returns the status that was sent.
 */
export type Send = (exchange: Exchange, answer: Answer, corsLines: string) => number;

export function createSend(writeHead: WriteHead, batch: AnswerBatch): Send {
  const usualSecurity = securityLines();

  return ({ request, response, id, limit, match }, answer, corsLines) => {
    const ifNoneMatch = request.headers['if-none-match'];
    const isKnown =
      ifNoneMatch !== undefined &&
      answer.etag !== null &&
      answer.status === 200 &&
      matchesEtag(ifNoneMatch, answer.etag);
    const status = isKnown ? 304 : answer.status;
    const security = match.route?.securityLines ?? usualSecurity;
    const own = isKnown ? answer.lines : answer.lines + answer.bodyLines;
    writeHead(response, status, `x-request-id: ${id}\r\n${limitLines(limit)}${corsLines}${security}${own}`);
    batch.end(response, isKnown ? null : answer.body);
    return status;
  };
}

/** Reads the fields one by one, because a loop over the object takes three times as long. */
function limitLines(limit: LimitHeaders | null): string {
  if (limit === null) return '';
  const retryAfter = limit['retry-after'];
  return (
    `x-ratelimit-limit: ${limit['x-ratelimit-limit']}\r\n` +
    `x-ratelimit-remaining: ${limit['x-ratelimit-remaining']}\r\n` +
    `x-ratelimit-reset: ${limit['x-ratelimit-reset']}\r\n` +
    `ratelimit-policy: ${limit['ratelimit-policy']}\r\n` +
    `ratelimit: ${limit.ratelimit}\r\n` +
    (retryAfter === undefined ? '' : `retry-after: ${retryAfter}\r\n`)
  );
}
